import { phishingWhitelist } from '../../src/contexts/policies/domain/phishing-whitelist-entry.resource.ts';
import { scopedDomains } from '../../src/contexts/policies/domain/scoped-domain.resource.ts';
import { tenantSettings } from '../../src/contexts/settings/domain/tenant-settings.resource.ts';
import type { EngineConfig } from '../../src/contexts/policies/domain/engine/encounter.ts';
import { orThrow } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { listPolicies } from './list-policies.ts';

/** The current configuration of the policy engine for this tenant. */
export const engineConfig: Query<undefined, EngineConfig> = async (reads) => {
  const [{ policies }, settings, domainScope, whitelist] = await Promise.all([
    listPolicies(reads, undefined).then(orThrow),
    tenantSettings.read(reads, undefined).then(orThrow),
    scopedDomains.all(reads, {}).then(orThrow),
    phishingWhitelist.all(reads, {}).then(orThrow),
  ]);
  return { mode: settings.extensionMode, policies, domainScope, phishingWhitelist: whitelist };
};
