import { groupEvents } from './groups/domain/events.ts';
import { policyEvents } from './policies/domain/events.ts';
import type { EventFamily } from '../platform/kernel/event.ts';
import type { ReadModelName } from '../platform/kernel/read-model-name.ts';
import { resources } from './resources.ts';

const toldResources = resources.filter(({ declared }) => declared.toldToExtensions);
const whole: readonly EventFamily[] = [policyEvents, ...toldResources.map(({ events }) => events)];
/** Group membership decides which policies apply to a person. */
const ofGroups = [
  'GroupMembersAdded',
  'GroupMembersRemoved',
  'GroupDeleted',
] as const satisfies readonly (keyof typeof groupEvents.definitions)[];

/** Event families with at least one event that changes the configuration of extensions. */
export const extensionConfigFamilies: readonly EventFamily[] = [...whole, groupEvents];
/** All such events. Each one increments the policy version. */
export const extensionConfigEventTypes: readonly string[] = [
  ...whole.flatMap(({ definitions }) => Object.keys(definitions)),
  ...ofGroups,
];
/** Read models from which the configuration of extensions is built. */
export const extensionConfigModels: readonly ReadModelName[] = [
  'policies',
  'policy_versions',
  'group_members',
  ...toldResources.map(({ model }) => model.name),
];
