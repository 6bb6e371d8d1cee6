import type { ObservationOf } from '../telemetry/observation.ts';

export interface ExtensionOnDevice {
  readonly extensionId: string;
  readonly name: string;
  readonly version: string;
  readonly publisher: string | null;
  readonly permissions: readonly string[];
  readonly isEnabled: boolean;
  /** First told of, since it was last removed. */
  readonly installedAt: string;
  readonly lastSeenAt: string;
}

export interface ExtensionsOnDevice {
  /** The latest inventory; what an older one says is over. */
  readonly asOf: string;
  /** By id. */
  readonly list: readonly ExtensionOnDevice[];
}

/** An inventory speaks for the whole browser (choice OP-158): what is not in it is gone, unless it came later. */
export function snapshotOf({ asOf, list }: ExtensionsOnDevice, { occurredAt, extensions }: ObservationOf<'extension_inventory'>): ExtensionsOnDevice {
  if (occurredAt < asOf) return { asOf, list };
  const known = new Map(list.map((one) => [one.extensionId, one]));
  const told = new Map(
    extensions.map((one) => [one.extensionId, { ...one, installedAt: earlier(known.get(one.extensionId)?.installedAt, occurredAt), lastSeenAt: occurredAt }]),
  );
  const since = list.filter(({ lastSeenAt }) => lastSeenAt > occurredAt);
  return { asOf: occurredAt, list: sorted([...[...told.values()].filter(({ extensionId }) => !since.some((one) => one.extensionId === extensionId)), ...since]) };
}

/** One thing that happened to one extension; what is older than what is known of it changes nothing. */
export function changedExtensions(extensions: ExtensionsOnDevice, event: ObservationOf<'extension_event'>): ExtensionsOnDevice {
  const { extensionId, change, occurredAt } = event;
  const known = extensions.list.find((one) => one.extensionId === extensionId);
  if (occurredAt < (known?.lastSeenAt ?? extensions.asOf)) return extensions;
  const others = extensions.list.filter((one) => one !== known);
  if (change === 'removed') return { ...extensions, list: others };
  const changed: ExtensionOnDevice = {
    extensionId,
    name: event.name ?? known?.name ?? extensionId,
    version: event.version ?? known?.version ?? '',
    publisher: known?.publisher ?? null,
    permissions: event.permissions ?? known?.permissions ?? [],
    isEnabled: change === 'disabled' ? false : change === 'enabled' || change === 'installed' ? true : (known?.isEnabled ?? true),
    installedAt: known?.installedAt ?? occurredAt,
    lastSeenAt: occurredAt,
  };
  return { ...extensions, list: sorted([...others, changed]) };
}

const earlier = (known: string | undefined, now: string): string => (known !== undefined && known < now ? known : now);
const sorted = (list: readonly ExtensionOnDevice[]): readonly ExtensionOnDevice[] => list.toSorted((a, b) => (a.extensionId < b.extensionId ? -1 : 1));
