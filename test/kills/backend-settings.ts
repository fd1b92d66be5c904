/** Holds the settings of a backend's process as JSON. */
export const SETTINGS_VARIABLE = "KILLS_BACKEND";

export interface BackendProcessSettings {
  readonly port: number;
  /** Gets a line for each request as it comes, and one as it ends. */
  readonly arrivalsFile: string;
}
