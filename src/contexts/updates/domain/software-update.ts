import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import { INSTALLATION } from '../../../platform/kernel/ids.ts';
import { softwareUpdateEvents, type SoftwareUpdateEvent, type StoredBundle, type UpdateAction } from './events.ts';

/** OP-207. */
export const updateStates = [
  'idle',
  'checking',
  'available',
  'staged',
  'applying',
  'applied',
  'failed',
  'rolled_back',
] as const;
export type UpdateStatus = (typeof updateStates)[number];

interface CheckUnderWay {
  readonly checkId: string;
  readonly until: string;
}

export interface UpdateUnderWay {
  readonly updateId: string;
  readonly action: UpdateAction;
  readonly fromVersion: string;
  readonly toVersion: string;
  readonly bundle: StoredBundle | null;
  /** When it has failed if nothing else is known by then. */
  readonly until: string;
  /** When a process began to run the command; null: none has yet. */
  readonly startedAt: string | null;
}

export interface Download {
  readonly downloadId: string;
  readonly version: string;
  readonly begunAt: string;
  /** When it has failed if nothing else is known by then. */
  readonly until: string;
  readonly hasEnded: boolean;
  readonly failure: string | null;
}

/** JSON: the read model stores it as it is. */
export interface SoftwareUpdateState {
  /** Without a check or update that is under way. */
  readonly resting: Exclude<UpdateStatus, 'checking' | 'applying'>;
  readonly check: CheckUnderWay | null;
  readonly underWay: UpdateUnderWay | null;
  readonly found: { readonly version: string; readonly releaseNotes: string | null } | null;
  readonly lastCheckedAt: string | null;
  /** The last download; null: there was none, or it is staged. */
  readonly download: Download | null;
  readonly staged: StoredBundle | null;
  /** The version that the last update or rollback ended with; null before the first one. */
  readonly installedVersion: string | null;
  /** The bundle of that version. */
  readonly current: StoredBundle | null;
  /** Where a rollback leads; its bundle is null if the version did not come from one. */
  readonly previous: { readonly version: string; readonly bundle: StoredBundle | null } | null;
}

export const NO_UPDATES: SoftwareUpdateState = {
  resting: 'idle',
  check: null,
  underWay: null,
  found: null,
  lastCheckedAt: null,
  download: null,
  staged: null,
  installedVersion: null,
  current: null,
  previous: null,
};

type Ended = Extract<SoftwareUpdateEvent, { type: 'UpdateEnded' }>['data'];
type CheckEnded = Extract<SoftwareUpdateEvent, { type: 'UpdateCheckEnded' }>['data'];

/** Also the fold of the read model. */
export function foldSoftwareUpdate(state: SoftwareUpdateState, event: SoftwareUpdateEvent): SoftwareUpdateState {
  switch (event.type) {
    case 'UpdateCheckBegun':
      return { ...state, check: event.data };
    case 'UpdateCheckEnded':
      return afterCheck(state, event.data);
    case 'UpdateDownloadBegun':
      return { ...state, download: { ...event.data, hasEnded: false, failure: null } };
    case 'UpdateDownloadEnded':
      return { ...state, download: afterDownload(state, event.data.failure) };
    case 'UpdateStaged':
      return { ...state, staged: event.data.bundle, resting: 'staged' };
    case 'UpdateBegun': {
      const { updateId, action, fromVersion, toVersion, bundle, until } = event.data;
      return { ...state, underWay: { updateId, action, fromVersion, toVersion, bundle, until, startedAt: null } };
    }
    case 'UpdateCommandStarted': {
      const { startedAt, until } = event.data;
      return state.underWay ? { ...state, underWay: { ...state.underWay, startedAt, until } } : state;
    }
    case 'UpdateEnded':
      return afterUpdate({ ...state, underWay: null }, state.underWay, event.data);
  }
}

const afterDownload = ({ download }: SoftwareUpdateState, failure: string | null): Download | null =>
  failure === null ? null : download && { ...download, hasEnded: true, failure };

function afterCheck(state: SoftwareUpdateState, { checkedAt, found }: CheckEnded): SoftwareUpdateState {
  const ended = { ...state, check: null };
  if (!found) return ended;
  const isNews = found.version !== state.installedVersion;
  const resting = state.staged ? state.resting : isNews ? 'available' : state.resting;
  return { ...ended, found, lastCheckedAt: checkedAt, resting };
}

function afterUpdate(state: SoftwareUpdateState, begun: UpdateUnderWay | null, ended: Ended): SoftwareUpdateState {
  if (!ended.hasSucceeded) return { ...state, resting: 'failed' };
  const installed = { ...state, installedVersion: ended.toVersion, current: begun?.bundle ?? null };
  if (ended.action === 'rollback') return { ...installed, previous: null, resting: 'rolled_back' };
  const previous = { version: ended.fromVersion, bundle: bundleOf(state.current, ended.fromVersion) };
  return { ...installed, previous, staged: null, resting: 'applied' };
}

/** Another version was installed without us if it is not the bundle's. */
const bundleOf = (bundle: StoredBundle | null, version: string): StoredBundle | null =>
  bundle?.version === version ? bundle : null;

/** `now` in epoch milliseconds: a check whose process died ends by itself. */
export function updateStatusAt({ underWay, check, resting }: SoftwareUpdateState, now: number): UpdateStatus {
  if (underWay) return 'applying';
  return isChecking({ check }, now) ? 'checking' : resting;
}

export const isChecking = ({ check }: Pick<SoftwareUpdateState, 'check'>, now: number): boolean =>
  check !== null && now < Date.parse(check.until);

export const isDownloading = ({ download }: Pick<SoftwareUpdateState, 'download'>, now: number): boolean =>
  download !== null && !download.hasEnded && now < Date.parse(download.until);

/** Bundles that may still be needed. All others can be deleted. */
export const bundlesInUse = ({ staged, current, previous, underWay }: SoftwareUpdateState): ReadonlySet<string> =>
  new Set([staged, current, previous?.bundle, underWay?.bundle].flatMap((bundle) => bundle?.bundleId ?? []));

export const softwareUpdate = defineAggregate<SoftwareUpdateState, typeof softwareUpdateEvents>(
  softwareUpdateEvents,
  NO_UPDATES,
  foldSoftwareUpdate,
);

/** The installation has one such stream. */
export const softwareUpdateStream = (): string => streamName('softwareUpdate', INSTALLATION, INSTALLATION);
