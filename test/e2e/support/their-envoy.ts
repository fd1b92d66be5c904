/** Ports of somebody's Envoy and of the two model servers behind it. */
export interface TheirPorts {
  readonly admin: number;
  readonly clients: number;
  readonly vllm: number;
  readonly spare: number;
}

/** Somebody's envoy.yaml, in a style of its own: two clusters, one route, and nothing of a breaker. */
export function theirEnvoy({ admin, clients, vllm, spare }: TheirPorts): string {
  return `# Edge proxy of the LLM team.
#   owner: platform@example.com

admin:
    address:
        socket_address: {address: 127.0.0.1, port_value: ${admin}}

static_resources:

    listeners:
        # public entry
        - name: ingress
          address:
              socket_address: { address: 127.0.0.1, port_value: ${clients} }
          filter_chains:
              - filters:
                    - name: envoy.filters.network.http_connection_manager
                      typed_config:
                          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                          stat_prefix: ingress    # dashboards use this
                          codec_type: AUTO
                          route_config:
                              name: local
                              virtual_hosts:
                                  - name: llm
                                    domains: ['*']
                                    routes:
                                        # everything goes to our own GPUs
                                        - match: {prefix: "/v1/"}
                                          route: {cluster: vllm}
                          http_filters:
                              - name: envoy.filters.http.health_check
                                typed_config:
                                    "@type": type.googleapis.com/envoy.extensions.filters.http.health_check.v3.HealthCheck
                                    pass_through_mode: false
                                    headers: [{name: ":path", string_match: {exact: "/healthz"}}]
                              # needs to stay the last one!
                              - name: envoy.filters.http.router
                                typed_config:
                                    "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router

    clusters:
        - name: vllm            # two A100s
          connect_timeout: 2s
          type: STRICT_DNS
          lb_policy: LEAST_REQUEST
          load_assignment:
              cluster_name: vllm
              endpoints:
                  - lb_endpoints:
                        - endpoint: {address: {socket_address: {address: localhost, port_value: ${vllm}}}}
          dns_lookup_family: V4_ONLY
        # a rented one, with bulkheads
        - name: spare
          connect_timeout: 2s
          type: STATIC
          circuit_breakers: {thresholds: [{max_requests: 200}]}
          load_assignment:
              cluster_name: spare
              endpoints:
                  - lb_endpoints:
                        - endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: ${spare}}}}

# vim: set sw=4:
`;
}
