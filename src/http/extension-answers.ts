import { extensionConfig, type ExtensionConfig } from '../../queries/extension/extension-config.ts';
import { policyEvents } from '../domain/policies/events.ts';
import { orThrow } from '../kernel/failure.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { Invalidation } from '../projector/live-state.ts';
import { resources } from '../resources/index.ts';
import type { Services } from '../services.ts';

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
}

type Answers = (tenantId: TenantId) => Promise<ExtensionAnswer>;

/** Every browser of a fleet polls this every few minutes: the answer is put together once, and again when something changed. */
export function extensionAnswer(services: Services, tenantId: TenantId): Promise<ExtensionAnswer> {
  let answers = built.get(services);
  if (!answers) built.set(services, (answers = rememberedAnswers(services)));
  return answers(tenantId);
}

const built = new WeakMap<Services, Answers>();

const toldResources = resources.filter(({ declared }) => declared.toldToExtensions);
const changes: Invalidation = Object.fromEntries(
  [policyEvents, ...toldResources.map(({ events }) => events)].flatMap(({ definitions }) => Object.keys(definitions)).map((type) => [type, () => 'tenant' as const]),
);
const models = ['policies', 'policy_versions', ...toldResources.map(({ model }) => model.name)];

function rememberedAnswers(services: Services): Answers {
  const { live, freshness, tail } = services;
  const remembered = live.remember(async (tenantId) => {
    // The feed made us forget; tables that have not come as far would make us remember what was before.
    const isFresh = await freshness.waitFor(models, tail.head);
    return isFresh ? await answerFor(services, tenantId) : undefined;
  }, changes);
  return async (tenantId) => (await remembered(tenantId, tenantId)) ?? answerFor(services, tenantId);
}

async function answerFor(services: Services, tenantId: TenantId): Promise<ExtensionAnswer> {
  const config = orThrow(await extensionConfig(services.reads(tenantId), { groupIds: [] }));
  const { policyVersion, extensionMode, settings } = config;
  const body = JSON.stringify({ ...config, credentialSalt: services.credentialSalt(tenantId) });
  return {
    policyVersion,
    etag: `"${policyVersion}"`,
    body,
    signature: services.bundleSigner.sign(body),
    extensionMode,
    heartbeatSeconds: settings.heartbeatSeconds,
  };
}

/** RFC 9110 §13.1.2: true where the caller holds this very answer. */
export const isHeld = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch !== undefined && (ifNoneMatch === etag || ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((held) => held.trim().replace(/^W\//, '') === etag));
