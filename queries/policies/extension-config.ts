import { canaryCookies } from '../../src/contexts/countermeasures/domain/canary-cookie.resource.ts';
import type { Rule } from '../../src/contexts/policies/domain/events.ts';
import { extensionMonitoringSettings } from '../../src/contexts/extensions/domain/monitoring-settings.resource.ts';
import { extensionWhitelist } from '../../src/contexts/extensions/domain/whitelist-entry.resource.ts';
import { phishingWhitelist } from '../../src/contexts/policies/domain/phishing-whitelist-entry.resource.ts';
import { scopedDomains } from '../../src/contexts/policies/domain/scoped-domain.resource.ts';
import { clickfixSignatures } from '../../src/contexts/signatures/domain/clickfix-signature.resource.ts';
import { signatures } from '../../src/contexts/signatures/domain/signature.resource.ts';
import { tenantSettings, type ExtensionMode } from '../../src/contexts/settings/domain/tenant-settings.resource.ts';
import { orThrow } from '../../src/platform/kernel/failure.ts';
import { pick } from '../../src/platform/kernel/pick.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import type { RecordOf } from '../../src/platform/resources/collection.ts';
import { policiesInForce } from './policies-in-force.ts';
import { policyVersion } from './policy-version.ts';

/** Includes the version, so that an analyst can find the signature's content at the time of an alert. */
const signatureFields = (record: RecordOf<typeof signatures>) =>
  pick(record, ['id', 'version', 'name', 'type', 'pattern', 'patternType', 'severity']);
const clickfixFields = (record: RecordOf<typeof clickfixSignatures>) =>
  pick(record, ['id', 'version', 'name', 'pattern', 'patternType', 'platform', 'severity', 'action']);
const extensionFields = (record: RecordOf<typeof extensionWhitelist>) => pick(record, ['extensionId', 'browserType']);

/** The configuration of a browser (choice OP-161), for a member of these groups. */
export interface ExtensionConfig {
  readonly policyVersion: string;
  readonly extensionMode: ExtensionMode;
  readonly policies: readonly {
    readonly id: string;
    readonly name: string;
    readonly priority: number;
    readonly rules: readonly Rule[];
  }[];
  readonly domainScope: readonly {
    readonly domain: string;
    readonly scope: 'corporate' | 'excluded';
    readonly includeSubdomains: boolean;
  }[];
  readonly phishingWhitelist: readonly { readonly domain: string }[];
  /** Patterns of phishing pages and ClickFix pages, and the allowed extensions. */
  readonly signatures: readonly ReturnType<typeof signatureFields>[];
  readonly clickfixSignatures: readonly ReturnType<typeof clickfixFields>[];
  readonly extensionWhitelist: readonly ReturnType<typeof extensionFields>[];
  readonly canaryCookies: readonly {
    readonly id: string;
    readonly name: string;
    readonly domain: string;
    readonly path: string;
    readonly value: string;
  }[];
  readonly settings: {
    readonly breachCheckEnabled: boolean;
    readonly policyPollSeconds: number;
    readonly heartbeatSeconds: number;
    readonly screenshotEnabled: boolean;
    readonly learningThreshold: number;
    readonly inventoryIntervalHours: number;
  };
}

export const extensionConfig: Query<{ groupIds: readonly string[] }, ExtensionConfig> = async (reads, { groupIds }) => {
  // Read the version first: content newer than its version is fetched again, but content older than its version would
  // never be updated.
  const version = orThrow(await policyVersion(reads, undefined));
  const [settings, monitoring, policies, domains, whitelist, cookies, phishing, clickfix, allowed] = await Promise.all([
    tenantSettings.read(reads, undefined).then(orThrow),
    extensionMonitoringSettings.read(reads, undefined).then(orThrow),
    policiesInForce(reads, { groupIds }).then(orThrow),
    scopedDomains.all(reads, {}).then(orThrow),
    phishingWhitelist.all(reads, {}).then(orThrow),
    canaryCookies.all(reads, { isEnabled: true }).then(orThrow),
    signatures.all(reads, { isEnabled: true }).then(orThrow),
    clickfixSignatures.all(reads, { isEnabled: true }).then(orThrow),
    extensionWhitelist.all(reads, {}).then(orThrow),
  ]);
  const {
    extensionMode,
    breachCheckEnabled,
    policyPollSeconds,
    heartbeatSeconds,
    screenshotEnabled,
    learningThreshold,
  } = settings;
  return {
    policyVersion: version,
    extensionMode,
    policies: policies.map(({ id, name, priority, rules }) => ({ id, name, priority, rules })),
    domainScope: domains.map(({ domain, scope, includeSubdomains }) => ({ domain, scope, includeSubdomains })),
    phishingWhitelist: whitelist.map(({ domain }) => ({ domain })),
    signatures: phishing.map(signatureFields),
    clickfixSignatures: clickfix.map(clickfixFields),
    extensionWhitelist: allowed.map(extensionFields),
    canaryCookies: cookies.map(({ id, name, domain, path, value }) => ({ id, name, domain, path, value })),
    settings: {
      breachCheckEnabled,
      policyPollSeconds,
      heartbeatSeconds,
      screenshotEnabled,
      learningThreshold,
      inventoryIntervalHours: monitoring.inventoryIntervalHours,
    },
  };
};
