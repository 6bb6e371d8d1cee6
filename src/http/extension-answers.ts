import { extensionConfig, type ExtensionConfig } from '../../queries/extension/extension-config.ts';
import { groupIdsOfUser } from '../../queries/policies/group-ids-of-user.ts';
import { isFailure, orThrow } from '../kernel/failure.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { Bound, Invalidation, LiveState } from '../projector/live-state.ts';
import { toldModels, toldTypes } from '../resources/told-to-extensions.ts';
import type { FeedTail } from '../projector/feed-tail.ts';
import type { Freshness } from '../projector/freshness.ts';
import type { BundleSigner } from '../extension/bundle-signer.ts';
import type { TenantReads } from '../kernel/query.ts';

export interface ExtensionAnswersDependencies {
  readonly tail: FeedTail;
  readonly freshness: Freshness;
  readonly bundleSigner: BundleSigner;
  readonly live: LiveState;
  credentialSalt(tenantId: TenantId): string;
  vitalReads(tenantId: TenantId): TenantReads;
}

/** What a tenant's extensions are told, as it leaves the house. */
export interface ExtensionAnswer {
  readonly policyVersion: string;
  readonly etag: string;
  /** JSON. */
  readonly body: string;
  /** Of the body, as `BundleSigner` makes it. */
  readonly signature: string;
  readonly extensionMode: ExtensionConfig['extensionMode'];
  readonly heartbeatSeconds: number;
  readonly screenshotEnabled: boolean;
}

type Answers = (tenantId: TenantId, groupIds: readonly string[]) => Promise<ExtensionAnswer>;
type GroupIds = (tenantId: TenantId, userId: string) => Promise<readonly string[]>;

/**
 * Every browser of a fleet polls this every few minutes: a response is put together once for people of the same groups, and again when
 * something changed.
 */
export class ExtensionAnswers {
  readonly #answers: Answers;
  readonly #groupIds: GroupIds;

  constructor(dependencies: ExtensionAnswersDependencies) {
    this.#answers = rememberedAnswers(dependencies);
    this.#groupIds = rememberedGroups(dependencies);
  }

  /** What holds for every extension of a tenant: version, mode and times, with the policies that reach everybody. */
  ofTenant(tenantId: TenantId): Promise<ExtensionAnswer> {
    return this.#answers(tenantId, []);
  }

  /** What the extension of this person is told: policies of their groups, too (choice OP-113). */
  async ofPerson(tenantId: TenantId, userId: string): Promise<ExtensionAnswer> {
    return this.#answers(tenantId, await this.#groupIds(tenantId, userId));
  }
}

/** Octets, or nearly so: one answer may be hundreds of kilobytes, and each set of groups has its own. */
const BODIES: Bound<ExtensionAnswer> = { most: 64 * 1024 * 1024, weigh: ({ body }) => body.length };

const changes: Invalidation = Object.fromEntries(toldTypes.map((type) => [type, () => 'tenant' as const]));

/** The feed made us forget; tables that have not come as far would make us remember what was before. */
const isFresh = ({ freshness, tail }: ExtensionAnswersDependencies): Promise<boolean> =>
  freshness.waitFor(toldModels, tail.head);

function rememberedAnswers(services: ExtensionAnswersDependencies): Answers {
  const EVERYBODY = 'everybody';
  const groupsIn = (name: string) => (name === EVERYBODY ? [] : name.split(','));
  const remembered = services.live.remember(
    async (tenantId, name) => ((await isFresh(services)) ? answerFor(services, tenantId, groupsIn(name)) : undefined),
    changes,
    BODIES,
  );
  return async (tenantId, groupIds) =>
    (await remembered(tenantId, groupIds.length > 0 ? groupIds.join(',') : EVERYBODY)) ??
    answerFor(services, tenantId, groupIds);
}

function rememberedGroups(services: ExtensionAnswersDependencies): GroupIds {
  const groupIdsOf = async (tenantId: TenantId, userId: string) => {
    const groupIds = await groupIdsOfUser(services.vitalReads(tenantId), { userId });
    return isFailure(groupIds) ? [] : groupIds;
  };
  const remembered = services.live.remember(
    async (tenantId, userId) => ((await isFresh(services)) ? groupIdsOf(tenantId, userId) : undefined),
    changes,
  );
  return async (tenantId, userId) =>
    userId === '' ? [] : ((await remembered(tenantId, userId)) ?? groupIdsOf(tenantId, userId));
}

async function answerFor(
  services: ExtensionAnswersDependencies,
  tenantId: TenantId,
  groupIds: readonly string[],
): Promise<ExtensionAnswer> {
  const config = orThrow(await extensionConfig(services.vitalReads(tenantId), { groupIds }));
  const { policyVersion, extensionMode, settings } = config;
  const body = JSON.stringify({ ...config, credentialSalt: services.credentialSalt(tenantId) });
  return {
    policyVersion,
    etag: `"${policyVersion}"`,
    body,
    signature: services.bundleSigner.sign(body),
    extensionMode,
    heartbeatSeconds: settings.heartbeatSeconds,
    screenshotEnabled: settings.screenshotEnabled,
  };
}

/** RFC 9110 §13.1.2: true where the caller holds this very answer. */
export const isHeld = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch !== undefined &&
  (ifNoneMatch === etag ||
    ifNoneMatch.trim() === '*' ||
    ifNoneMatch.split(',').some((held) => held.trim().replace(/^W\//, '') === etag));
