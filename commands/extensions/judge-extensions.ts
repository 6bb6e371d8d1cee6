import { device, deviceStream } from '../../src/contexts/devices/domain/device.ts';
import { extensionWatch, extensionWatchStream } from '../../src/contexts/extensions/domain/extension-watch.ts';
import { extensionMonitoringSettings } from '../../src/contexts/extensions/domain/monitoring-settings.resource.ts';
import type { ExtensionWatchEvent, FoundExtension } from '../../src/contexts/extensions/domain/watch-events.ts';
import { extensionWhitelist } from '../../src/contexts/extensions/domain/whitelist-entry.resource.ts';
import type { AggregateReader } from '../../src/platform/kernel/aggregate.ts';
import { accept, defineCommand, type Claim } from '../../src/platform/kernel/command.ts';
import type { TenantId } from '../../src/platform/kernel/ids.ts';

type Found = Extract<ExtensionWatchEvent, { type: 'UnwhitelistedExtensionsFound' }>['data'];
type Browser = Found['browserType'];

export interface JudgeExtensions extends Pick<
  Found,
  'deviceId' | 'userId' | 'batchId' | 'extensionMode' | 'policyVersion'
> {
  readonly present: readonly FoundExtension[];
  readonly gone: readonly string[];
  /** True if `present` lists all extensions of the browser. */
  readonly isComplete: boolean;
}

interface Ports {
  readonly aggregates: AggregateReader;
  claimHolders(tenantId: TenantId, claims: readonly Claim[]): Promise<readonly (string | undefined)[]>;
}

interface Facts {
  /** The tenant has turned this alert on. */
  readonly isWanted: boolean;
  readonly severity: Found['severity'];
  readonly browserType: Browser;
  readonly listed: ReadonlySet<string>;
}

/**
 * Maximum number of extensions reported by one decision, so that its events fit into one append whatever their texts
 * are. The reaction issues the command once per this many extensions found; each run continues where the previous one
 * stopped.
 */
export const MAX_REPORTED_EXTENSIONS = 100;

/**
 * Compares a browser's extensions with the whitelist as it is on the write side now. Each extension is reported once
 * while it stays installed, so that an inventory does not raise a closed alert again.
 */
export const judgeExtensions = defineCommand({
  name: 'JudgeExtensions',
  aggregate: extensionWatch,
  stream: ({ deviceId }: JudgeExtensions, { tenantId }) => extensionWatchStream(tenantId, deviceId),
  prepare: async ({ deviceId, present }: JudgeExtensions, ports: Ports, { tenantId }): Promise<Facts> => {
    const { enabled, alertOnUnwhitelisted, alertSeverity } = (
      await ports.aggregates.load(extensionMonitoringSettings.aggregate, extensionMonitoringSettings.stream(tenantId))
    ).values;
    const { browserType } = await ports.aggregates.load(device, deviceStream(tenantId, deviceId));
    const isWanted = enabled && alertOnUnwhitelisted;
    const listed = new Set(
      isWanted
        ? await listedAmong(
            ports,
            tenantId,
            browserType,
            present.map(({ extensionId }) => extensionId),
          )
        : [],
    );
    return { isWanted, severity: alertSeverity, browserType, listed };
  },
  decide({ told }, { present, gone, isComplete, ...judged }, _context, { isWanted, severity, browserType, listed }) {
    const there = new Set(present.map(({ extensionId }) => extensionId));
    const removed = new Set(gone);
    const cleared = [...told].filter((one) => listed.has(one) || removed.has(one) || (isComplete && !there.has(one)));
    const found = isWanted
      ? present
          .filter(({ extensionId }) => !listed.has(extensionId) && !told.has(extensionId))
          .slice(0, MAX_REPORTED_EXTENSIONS)
      : [];
    const events: ExtensionWatchEvent[] = [];
    if (cleared.length > 0)
      events.push({
        type: 'UnwhitelistedExtensionsCleared',
        data: { deviceId: judged.deviceId, extensionIds: cleared },
      });
    if (found.length > 0)
      events.push({
        type: 'UnwhitelistedExtensionsFound',
        data: { ...judged, severity, browserType, extensions: found },
      });
    return accept(events);
  },
});

/** Whitelist entries hold claims, so this lookup needs no search and no read model. */
async function listedAmong(
  { claimHolders }: Ports,
  tenantId: TenantId,
  browserType: Browser,
  extensionIds: readonly string[],
): Promise<string[]> {
  const entries = extensionIds.flatMap((extensionId) =>
    [null, ...(browserType === null ? [] : [browserType])].flatMap((browser) =>
      extensionWhitelist.claims({ extensionId, browserType: browser }).map((claim) => ({ extensionId, claim })),
    ),
  );
  const holders = await claimHolders(
    tenantId,
    entries.map(({ claim }) => claim),
  );
  return [...new Set(entries.filter((_, at) => holders[at] !== undefined).map(({ extensionId }) => extensionId))];
}
