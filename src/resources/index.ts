import { canaryCookies } from '../domain/countermeasures/canary-cookie.resource.ts';
import { extensionMonitoringSettings } from '../domain/extensions/monitoring-settings.resource.ts';
import { extensionWhitelist } from '../domain/extensions/whitelist-entry.resource.ts';
import { phishingWhitelist } from '../domain/policies/phishing-whitelist-entry.resource.ts';
import { scopedDomains } from '../domain/policies/scoped-domain.resource.ts';
import { clickfixSignatures } from '../domain/signatures/clickfix-signature.resource.ts';
import { signatures } from '../domain/signatures/signature.resource.ts';
import { tenantSettings } from '../domain/settings/tenant-settings.resource.ts';
import type { EventFamily } from '../kernel/event.ts';
import type { NamedReadModel } from '../kernel/read-model.ts';
import type { AnyDefinedCollection } from './collection.ts';
import type { AnyDefinedSingleton } from './singleton.ts';

/** Every declared resource of the house: one line here is all that a new one needs besides its file. */
export const resources: readonly (AnyDefinedCollection | AnyDefinedSingleton)[] = [
  tenantSettings,
  scopedDomains,
  phishingWhitelist,
  canaryCookies,
  extensionWhitelist,
  extensionMonitoringSettings,
  signatures,
  clickfixSignatures,
];

export const resourceFamilies: readonly EventFamily[] = resources.map(({ events }) => events);
export const resourceModels: readonly NamedReadModel[] = resources.map(({ model }) => model);
