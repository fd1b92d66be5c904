import { useState } from "preact/hooks";
import type { BackendView } from "../../control/schemas.js";
import { counted, decimal, duration } from "./format.js";
import { StandingIcon } from "./icons.js";
import { STANDING_NAMES, standingOf } from "./standing.js";

/** Each gateway's own view, when asked for. */
export function GatewayList({ backend }: { backend: BackendView }) {
  const [isOpen, setIsOpen] = useState(false);
  const { gateways } = backend;
  return (
    <details onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>{counted(gateways.length, "gateway")}</summary>
      {isOpen && (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">Gateway</th>
                <th scope="col">State</th>
                <th scope="col">For</th>
                <th scope="col">Calls</th>
                <th scope="col">Failed</th>
              </tr>
            </thead>
            <tbody>
              {gateways.map((gateway) => {
                const standing = standingOf({ ...gateway, gateways: [gateway] });
                return (
                  <tr key={`${gateway.process} ${gateway.policy}`}>
                    <th scope="row">
                      <bdi>{gateway.node || gateway.process}</bdi>
                    </th>
                    <td>
                      <span class="state" data-standing={standing}>
                        <StandingIcon standing={standing} /> {STANDING_NAMES[standing]}
                      </span>
                    </td>
                    <td>{duration(gateway.stateAgeMs)}</td>
                    <td>{gateway.window.calls}</td>
                    <td>{decimal(gateway.window.failureRate)} %</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}
