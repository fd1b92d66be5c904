/** The role that only the bench's service has. */
export const DO_NOTHING = "nothing";
