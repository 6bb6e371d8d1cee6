import { randomUUID } from 'node:crypto';
import { beginDomainScan } from '../../../commands/threat-intel/begin-domain-scan.ts';
import { endDomainScan, type EndDomainScan } from '../../../commands/threat-intel/end-domain-scan.ts';
import {
  domainScan,
  domainScanStream,
  dueServices,
  domainVerdictOf,
  type ScanData,
  type DomainVerdict,
} from './domain/domain-scan.ts';
import { isScannable } from './domain/scannable.ts';
import { scanServices, type ScanService } from './domain/services.ts';
import { serviceKeyLocation, threatIntel, threatIntelStream } from './domain/settings.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import type { ExecutionContext } from '../../platform/execution/execution-context.ts';
import type { AggregateReader } from '../../platform/kernel/aggregate.ts';
import { orThrow } from '../../platform/kernel/failure.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { Freshness } from '../../platform/projector/freshness.ts';
import type { CommandPorts } from '../../../commands/ports.ts';
import type { Vault } from '../../platform/vault/vault.ts';
import type { CallBudget } from './call-budget.ts';
import { ProviderFailed, type ProviderResults, type ThreatIntelProviders } from './provider.ts';

/** The browser that requests a scan. */
export interface ScanRequester {
  readonly deviceId: string | null;
  readonly userId: string | null;
  /** The request was already counted when it was queued. */
  readonly hasWaited?: true;
  /** Whether a browser of the tenant visited the domain: visited domains go first. Default: true. */
  isVisited?(): Promise<boolean>;
}

export interface Scanned {
  readonly data: ScanData;
  readonly verdict: DomainVerdict;
  /** Whether a service knew something just now. */
  readonly scanned: boolean;
  /** Epoch milliseconds at which an exhausted budget is available again. */
  readonly postponedUntil: number | undefined;
}

type Outcome = { readonly service: ScanService } & (
  | { readonly answer: ProviderResults[ScanService] | undefined }
  | { readonly reason: string }
  | { readonly until: number }
);

export interface ScanningPorts {
  readonly executor: Pick<Executor<CommandPorts>, 'execute'>;
  readonly aggregates: AggregateReader;
  readonly freshness: Pick<Freshness, 'waitFor'>;
  readonly vault: Vault;
  readonly budget: Pick<CallBudget, 'take' | 'takeShare' | 'mayWait'>;
  readonly providers: ThreatIntelProviders;
}

/**
 * Queries the services about domains: each domain once in seven days and one request at a time, within the budgets of
 * the tenant's own accounts. Keys are sent only to the services. Failures are recorded and not retried at once.
 */
export class DomainScans {
  readonly #ports: ScanningPorts;
  readonly #underWay = new Map<string, Promise<Scanned>>();

  constructor(ports: ScanningPorts) {
    this.#ports = ports;
  }

  /** Returns what is known of a domain, after a scan if one is due. Concurrent calls in this process share one scan. */
  scan(domain: string, requester: ScanRequester, execution: ExecutionContext): Promise<Scanned> {
    const name = `${execution.tenantId}/${domain}`;
    let scan = this.#underWay.get(name);
    if (!scan) {
      scan = this.#scan(domain, requester, execution).finally(() => this.#underWay.delete(name));
      this.#underWay.set(name, scan);
    }
    return scan;
  }

  /** Whether a postponed domain may wait for its budget. If not, the browsers ask again later. */
  mayWait(tenantId: TenantId, deviceId: string): Promise<boolean> {
    return this.#ports.budget.mayWait(tenantId, deviceId);
  }

  /** Makes one call to a service with the tenant's key, only to test the connection. Throws `ProviderFailed`. */
  async probe(tenantId: TenantId, service: ScanService, domain: string): Promise<void> {
    const { keyRefs } = await this.#ports.aggregates.load(threatIntel, threatIntelStream(tenantId));
    if (keyRefs[service] === null) throw new ProviderFailed('no API key is stored');
    const outcome = await this.#ask(tenantId, service, domain, keyRefs[service]);
    if ('until' in outcome) throw new ProviderFailed('the budget of the service is used up');
    if ('reason' in outcome) throw new ProviderFailed(outcome.reason);
  }

  async #scan(domain: string, requester: ScanRequester, execution: ExecutionContext): Promise<Scanned> {
    const { executor, aggregates, freshness, budget } = this.#ports;
    const { tenantId } = execution;
    const [{ enabled, keyRefs }, known] = await Promise.all([
      aggregates.load(threatIntel, threatIntelStream(tenantId)),
      aggregates.load(domainScan, domainScanStream(tenantId, domain)),
    ]);
    const inUse = scanServices.filter(
      (service) => enabled[service] && keyRefs[service] !== null && isScannable(domain),
    );
    const asIs: Scanned = {
      data: known.data,
      verdict: domainVerdictOf(known.data, inUse, Date.now()),
      scanned: false,
      postponedUntil: undefined,
    };
    if (dueServices(known, inUse, Date.now()).length === 0) return asIs;
    // Checked before anything is recorded about the domain, so that other devices may still request it.
    const wait =
      requester.deviceId !== null && !requester.hasWaited ? await budget.takeShare(tenantId, requester.deviceId) : 0;
    if (wait > 0) return { ...asIs, postponedUntil: Date.now() + wait };
    const isVisited = (await requester.isVisited?.()) ?? true;
    const scanId = randomUUID();
    const { result: begun } = orThrow(
      await executor.execute(beginDomainScan, { scanId, domain, services: inUse }, execution),
    );
    if (begun.due.length === 0) return asIs;
    const outcomes = await Promise.all(
      begun.due.map((service) => this.#ask(tenantId, service, domain, keyRefs[service]!, isVisited)),
    );
    const ended = orThrow(
      await executor.execute(endDomainScan, endingOf(scanId, domain, outcomes, requester), execution),
    );
    if (ended.position !== undefined) await freshness.waitFor(['domain_scans'], ended.position);
    const waits = outcomes.flatMap((outcome) => ('until' in outcome ? [outcome.until] : []));
    return {
      data: ended.result.data,
      verdict: domainVerdictOf(ended.result.data, inUse, Date.now()),
      scanned: outcomes.some((outcome) => 'answer' in outcome && outcome.answer !== undefined),
      postponedUntil: waits.length > 0 ? Math.max(...waits) : undefined,
    };
  }

  async #ask(
    tenantId: TenantId,
    service: ScanService,
    domain: string,
    keyRef: string,
    isVisited = true,
  ): Promise<Outcome> {
    const { budget, vault, providers } = this.#ports;
    const apiKey = await vault.get(tenantId, serviceKeyLocation(service), keyRef);
    if (!apiKey) return { service, reason: 'no API key is stored' };
    const wait = await budget.take(tenantId, service, isVisited);
    if (wait > 0) return { service, until: Date.now() + wait };
    try {
      return { service, answer: await providers[service].lookUp(domain, apiKey.toString()) };
    } catch (error) {
      return { service, reason: error instanceof ProviderFailed ? error.message : 'the service could not be queried' };
    }
  }
}

function endingOf(
  scanId: string,
  domain: string,
  outcomes: readonly Outcome[],
  { deviceId, userId }: ScanRequester,
): EndDomainScan {
  const answerOf = <Service extends ScanService>(service: Service): ProviderResults[Service] | null => {
    const outcome = outcomes.find((one) => one.service === service);
    return outcome && 'answer' in outcome ? ((outcome.answer as ProviderResults[Service] | undefined) ?? null) : null;
  };
  return {
    scanId,
    domain,
    scanner: answerOf('scanner'),
    reputation: answerOf('reputation'),
    silent: outcomes.flatMap((outcome) =>
      'answer' in outcome && outcome.answer === undefined ? [outcome.service] : [],
    ),
    failures: outcomes.flatMap((outcome) =>
      'reason' in outcome ? [{ service: outcome.service, reason: outcome.reason }] : [],
    ),
    postponed: outcomes.flatMap((outcome) =>
      'until' in outcome ? [{ service: outcome.service, until: new Date(outcome.until).toISOString() }] : [],
    ),
    deviceId,
    userId,
  };
}
