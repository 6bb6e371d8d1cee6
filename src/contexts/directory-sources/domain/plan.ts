import type { ProvisionedPerson } from '../../employees/domain/provisioning.ts';
import type { DirectoryPerson } from './directory-reader.ts';

/** What a synchronization does with one person. */
export const plannedActions = ['create', 'link', 'change', 'deactivate', 'keep', 'ignore', 'refuse'] as const;
export type PlannedAction = (typeof plannedActions)[number];

/** A person whom the source has linked, as the source last described them. */
export type LinkedPerson = Pick<
  ProvisionedPerson,
  'userName' | 'email' | 'displayName' | 'department' | 'jobTitle' | 'isActive' | 'upn' | 'sid'
> & { readonly userId: string; readonly externalId: string | null };

export interface PlannedStep {
  readonly action: PlannedAction;
  readonly userId: string | null;
  readonly refusal: string | null;
}

/** Both sides of one person: at the directory, and among the people of the source. */
export interface BothSides {
  /** Undefined: the directory, read to its end, does not list them. */
  readonly listed: DirectoryPerson | undefined;
  readonly linked: LinkedPerson | undefined;
  /** An employee with the person's e-mail whom the source has not linked. */
  readonly namesake: string | undefined;
  /** Another entry of the directory has the same e-mail, and comes first: the e-mail is that person's. */
  readonly isEmailTaken?: boolean;
}

const compared = ['userName', 'email', 'displayName', 'department', 'jobTitle', 'isActive', 'upn', 'sid'] as const;

export const NO_EMAIL = 'has no e-mail';
export const REPEATED_EMAIL = 'another entry has the same e-mail';

/** The one place that decides what follows from a directory. Pure. */
export function planned({ listed, linked, namesake, isEmailTaken = false }: BothSides): PlannedStep {
  const step = (action: PlannedAction, userId: string | null, refusal: string | null = null): PlannedStep => ({
    action,
    userId,
    refusal,
  });
  if (!listed) return linked ? step(linked.isActive ? 'deactivate' : 'change', linked.userId) : step('ignore', null);
  if (listed.email === null) {
    if (!linked) return listed.isActive ? step('refuse', null, NO_EMAIL) : step('ignore', null);
    // The e-mail stays as it was last known.
    return planned({ listed: { ...listed, email: linked.email }, linked, namesake });
  }
  if (linked) {
    if (linked.isActive && !listed.isActive) return step('deactivate', linked.userId);
    const differs = compared.some((field) => linked[field] !== listed[field]);
    return step(differs ? 'change' : 'keep', linked.userId);
  }
  // A disabled account of somebody unknown needs no license seat.
  if (!listed.isActive) return step('ignore', null);
  if (isEmailTaken) return step('refuse', null, REPEATED_EMAIL);
  return namesake === undefined ? step('create', null) : step('link', namesake);
}
