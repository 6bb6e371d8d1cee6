import { canaryCookies } from './countermeasures/domain/canary-cookie.resource.ts';
import { offboardingSettings } from './employees/domain/offboarding-settings.resource.ts';
import { extensionMonitoringSettings } from './extensions/domain/monitoring-settings.resource.ts';
import { extensionWhitelist } from './extensions/domain/whitelist-entry.resource.ts';
import { pushRules } from './notifications/domain/push-rule.resource.ts';
import { phishingWhitelist } from './policies/domain/phishing-whitelist-entry.resource.ts';
import { scopedDomains } from './policies/domain/scoped-domain.resource.ts';
import { clickfixSignatures } from './signatures/domain/clickfix-signature.resource.ts';
import { signatures } from './signatures/domain/signature.resource.ts';
import { tenantSettings } from './settings/domain/tenant-settings.resource.ts';
import type { NamedReadModel } from '../platform/kernel/read-model.ts';
import type { AnyDefinedCollection } from '../platform/resources/collection.ts';
import type { AnyDefinedSingleton } from '../platform/resources/singleton.ts';

/** All declared resources of the application. A new resource needs only its file and one line here. */
const declared = [
  tenantSettings,
  scopedDomains,
  phishingWhitelist,
  canaryCookies,
  extensionWhitelist,
  extensionMonitoringSettings,
  offboardingSettings,
  pushRules,
  signatures,
  clickfixSignatures,
] as const;

export const resources: readonly (AnyDefinedCollection | AnyDefinedSingleton)[] = declared;
export const resourceFamilies = declared.map(({ events }) => events);
export const resourceModels: readonly NamedReadModel[] = resources.map(({ model }) => model);
