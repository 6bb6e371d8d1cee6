/**
 * `paged`: the first person was called. `escalated`: further ones were. `exhausted`: nobody was left, and all super
 * admins were notified. `acknowledged`: an admin took the alert on. `withdrawn`: the person whom the alert is about was
 * erased.
 */
export const pageStates = ['paged', 'escalated', 'exhausted', 'acknowledged', 'withdrawn'] as const;
export type PageStatus = (typeof pageStates)[number];
