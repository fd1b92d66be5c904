/** An Envoy cluster's endpoints on loopback. */
export const endpointsOf = (ports: readonly number[]): object[] =>
  ports.map((port) => ({
    endpoint: { address: { socket_address: { address: "127.0.0.1", port_value: port } } },
  }));
