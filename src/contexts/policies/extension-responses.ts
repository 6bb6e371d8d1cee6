import { extensionConfig, type ExtensionConfig } from '../../../queries/policies/extension-config.ts';
import { groupIdsOfMember } from '../../../queries/policies/group-ids-of-user.ts';
import { orThrow } from '../../platform/kernel/failure.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { TenantReads } from '../../platform/kernel/query.ts';
import type { AnyReadModel } from '../../platform/kernel/read-model.ts';
import type { BundleSigner } from './bundle-signer.ts';
import type { CacheBound, InvalidatingCache } from '../../platform/projector/invalidating-cache.ts';
import { extensionConfigModels } from '../extension-config-sources.ts';

export interface ExtensionResponsesDependencies {
  readonly models: readonly AnyReadModel[];
  readonly bundleSigner: BundleSigner;
  readonly cache: InvalidatingCache;
  credentialSalt(tenantId: TenantId): string;
  vitalReads(tenantId: TenantId): TenantReads;
}

/** The response for a tenant's extensions, ready to send. */
export interface ExtensionResponse {
  readonly policyVersion: string;
  readonly etag: string;
  /** JSON. */
  readonly body: string;
  /** Signature of the body by `BundleSigner`. */
  readonly signature: string;
  readonly extensionMode: ExtensionConfig['extensionMode'];
  readonly heartbeatSeconds: number;
  readonly screenshotEnabled: boolean;
}

type Answers = (tenantId: TenantId, groupIds: readonly string[]) => Promise<ExtensionResponse>;
type GroupIds = (tenantId: TenantId, userId: string) => Promise<readonly string[]>;

/** Every browser polls this every few minutes. One response per set of groups is cached and rebuilt after a change. */
export class ExtensionResponses {
  readonly #answers: Answers;
  readonly #groupIds: GroupIds;

  constructor(dependencies: ExtensionResponsesDependencies) {
    this.#answers = cachedAnswers(dependencies);
    this.#groupIds = cachedGroups(dependencies);
  }

  /** The response for all extensions of a tenant: version, mode, intervals, and the policies without groups. */
  ofTenant(tenantId: TenantId): Promise<ExtensionResponse> {
    return this.#answers(tenantId, []);
  }

  /** The response for this person's extension, including policies of their groups (choice OP-113). */
  async ofPerson(tenantId: TenantId, userId: string): Promise<ExtensionResponse> {
    return this.#answers(tenantId, await this.#groupIds(tenantId, userId));
  }

  /** The groups of a person, cached. */
  groupsOf(tenantId: TenantId, userId: string): Promise<readonly string[]> {
    return this.#groupIds(tenantId, userId);
  }
}

/** Approximate octets. One response may have hundreds of kilobytes, and each set of groups has its own. */
const BODIES: CacheBound<ExtensionResponse> = { most: 64 * 1024 * 1024, weigh: ({ body }) => body.length };

/**
 * The read models of the responses, and the read model of group membership. `test/laws/cached-reads.test.ts` compares
 * both with the queries.
 */
export const RESPONSE_TABLES: readonly string[] = extensionConfigModels.filter((name) => name !== 'group_members');
export const GROUP_TABLES: readonly string[] = ['group_members'];
const modelsNamed = ({ models }: ExtensionResponsesDependencies, names: readonly string[]): readonly AnyReadModel[] =>
  models.filter(({ name }) => names.includes(name));

function cachedAnswers(services: ExtensionResponsesDependencies): Answers {
  const EVERYBODY = 'everybody';
  const groupsIn = (name: string) => (name === EVERYBODY ? [] : name.split(','));
  const tables = modelsNamed(services, RESPONSE_TABLES);
  const cached = services.cache.cached(async (from, tenantId, name) => {
    await from.tables(tables);
    return answerFor(services, tenantId, groupsIn(name));
  }, BODIES);
  return (tenantId, groupIds) => cached(tenantId, groupIds.length > 0 ? groupIds.join(',') : EVERYBODY);
}

function cachedGroups(services: ExtensionResponsesDependencies): GroupIds {
  const tables = modelsNamed(services, GROUP_TABLES);
  const cached = services.cache.cached(async (from, tenantId, userId) => {
    await from.tables(tables);
    return orThrow(await groupIdsOfMember(services.vitalReads(tenantId), { userId }));
  });
  return async (tenantId, userId) => (userId === '' ? [] : cached(tenantId, userId));
}

async function answerFor(
  services: ExtensionResponsesDependencies,
  tenantId: TenantId,
  groupIds: readonly string[],
): Promise<ExtensionResponse> {
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

/** RFC 9110 §13.1.2: true if the client already has this response. */
export const isNotModified = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch !== undefined &&
  (ifNoneMatch === etag ||
    ifNoneMatch.trim() === '*' ||
    ifNoneMatch.split(',').some((held) => held.trim().replace(/^W\//, '') === etag));
