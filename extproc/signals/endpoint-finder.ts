import { isIP } from "node:net";
import { type Dns, isNothing, type ServiceRecord } from "./dns.js";
import { type Endpoint, endpointAt, hostOf, toAddress } from "./endpoint.js";
import { type BackendSettings, MAX_ENDPOINTS } from "./settings.js";

export interface Found {
  /** In one order, at most 64. */
  readonly endpoints: readonly Endpoint[];
  /** Why endpoints may be missing, be old, or are left out. */
  readonly problem: string | undefined;
}

interface Answer<T> {
  readonly records: T[];
  /** DNS answered, be it that there is nothing. */
  readonly isCertain: boolean;
}

/** Finds all engines of a backend. What DNS fails to answer is as it was answered last; that there is nothing is an answer. */
export class EndpointFinder {
  private readonly pages: readonly URL[];
  private readonly resolve: BackendSettings["resolve"];
  private known = new Map<string, readonly unknown[]>();
  private used = new Map<string, readonly unknown[]>();
  private problem: string | undefined;

  constructor(
    { metrics, endpoints, resolve }: Pick<BackendSettings, "metrics" | "endpoints" | "resolve">,
    private readonly dns: Dns,
  ) {
    this.pages = (endpoints ?? [metrics ?? ""]).map((page) => new URL(page));
    this.resolve = resolve;
  }

  /** Not to be called again before it has ended. */
  async find(): Promise<Found> {
    this.problem = undefined;
    this.used = new Map();
    const found = (await Promise.all(this.pages.map((page) => this.endpointsOf(page)))).flat();
    this.known = this.used;
    const byName = new Map(found.map((endpoint) => [endpoint.name, endpoint]));
    const sorted = [...byName.keys()].sort().map((name) => byName.get(name) as Endpoint);
    if (sorted.length > MAX_ENDPOINTS) {
      this.problem ??= `has ${sorted.length} engines, of which ${MAX_ENDPOINTS} are asked`;
    }
    return { endpoints: sorted.slice(0, MAX_ENDPOINTS), problem: this.problem };
  }

  private async endpointsOf(page: URL): Promise<Endpoint[]> {
    const host = hostOf(page);
    if (this.resolve === "srv") return this.endpointsOfService(page, host);
    if (this.resolve === "a") return (await this.addressesOf(host)).map((each) => endpointAt(page, each));
    const addresses = isIP(host) > 0 ? [host] : (await this.lookUp(host)).records;
    // The whole page's address: several may be on one port.
    return [{ name: page.host + page.pathname, url: page, addresses: addresses.map(toAddress) }];
  }

  private async endpointsOfService(page: URL, service: string): Promise<Endpoint[]> {
    const { records, isCertain } = await this.ask("SRV", service, (name) => this.dns.resolveSrv(name));
    if (records.length === 0 && isCertain) this.problem ??= `${service} has no SRV record`;
    // A record without a target says that there is no such service.
    const targets = records.filter(({ name }) => name !== "" && name !== ".").slice(0, MAX_ENDPOINTS + 1);
    return (await Promise.all(targets.map((target) => this.endpointsOfTarget(page, target)))).flat();
  }

  private async endpointsOfTarget(page: URL, { name, port }: ServiceRecord): Promise<Endpoint[]> {
    const target = new URL(page);
    target.hostname = name;
    return (await this.addressesOf(name)).map((address) => endpointAt(target, address, String(port)));
  }

  /** A name that DNS does not know as it stands may be short for one, or stand in /etc/hosts. */
  private async addressesOf(host: string): Promise<string[]> {
    if (isIP(host) > 0) return [host];
    const [four, six] = await Promise.all([
      this.ask("A", host, (name) => this.dns.resolve4(name)),
      this.ask("AAAA", host, (name) => this.dns.resolve6(name)),
    ]);
    const addresses = [...four.records, ...six.records];
    if (addresses.length > 0 || !four.isCertain || !six.isCertain) return addresses;
    const looked = await this.lookUp(host);
    if (looked.records.length === 0 && looked.isCertain) this.problem ??= `${host} has no address`;
    return looked.records;
  }

  private lookUp(host: string): Promise<Answer<string>> {
    return this.ask("host", host, (name) => this.dns.lookup(name));
  }

  private async ask<T>(
    kind: string,
    name: string,
    question: (name: string) => Promise<T[]>,
  ): Promise<Answer<T>> {
    const key = `${kind} ${name}`;
    const answer = await question(name).then(
      (records) => ({ records, isCertain: true }),
      (cause: Error) => {
        if (isNothing(cause)) return { records: [], isCertain: true };
        this.problem ??= `DNS does not answer for ${name} (${kind}): ${cause.message}`;
        return { records: (this.known.get(key) ?? []) as T[], isCertain: false };
      },
    );
    this.used.set(key, answer.records);
    return answer;
  }
}
