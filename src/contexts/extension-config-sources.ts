import { groupEvents } from './groups/domain/events.ts';
import { policyEvents } from './policies/domain/events.ts';
import type { EventFamily } from '../platform/kernel/event.ts';
import type { ReadModelName } from '../platform/kernel/read-model-name.ts';
import { resources } from './resources.ts';

const toldResources = resources.filter(({ declared }) => declared.toldToExtensions);
const whole: readonly EventFamily[] = [policyEvents, ...toldResources.map(({ events }) => events)];
/** Who is in a group decides which policies reach them. */
const ofGroups = [
  'GroupMembersAdded',
  'GroupMembersRemoved',
  'GroupDeleted',
] as const satisfies readonly (keyof typeof groupEvents.definitions)[];

/** Families of which some event changes what an extension is told. */
export const extensionConfigFamilies: readonly EventFamily[] = [...whole, groupEvents];
/** Every such event: one more of them is one more policy version. */
export const extensionConfigEventTypes: readonly string[] = [
  ...whole.flatMap(({ definitions }) => Object.keys(definitions)),
  ...ofGroups,
];
/** Read models that an answer to an extension is put together from. */
export const extensionConfigModels: readonly ReadModelName[] = [
  'policies',
  'policy_versions',
  'group_members',
  ...toldResources.map(({ model }) => model.name),
];
