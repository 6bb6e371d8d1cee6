import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { Claim } from '../../../platform/kernel/command.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { employeeEvents } from './events.ts';
import { linkClaims, provisioningKinds, type EmployeeLink } from './provisioning.ts';

/** What the employee list shows and sources may own. */
export interface EmployeeRecord {
  readonly email: string;
  readonly displayName: string;
  readonly department: string | null;
  readonly jobTitle: string | null;
  readonly externalId: string | null;
}

/** State for decisions about an employee. Personal values are only in memory: the log holds them sealed. */
export interface EmployeeState {
  readonly status: 'none' | 'present' | 'deleted' | 'erasing' | 'erased';
  readonly emailDigest: string;
  readonly seat: number;
  /** False: the devices are suspended, and the employee can neither be verified nor enroll devices. */
  readonly isActive: boolean;
  /** How often the employee became inactive. Codes and keys made before the latest deactivation stay invalid. */
  readonly deactivations: number;
  readonly isPlaceholder: boolean;
  readonly record: EmployeeRecord;
  /** At most one per kind of source, in the order of precedence. */
  readonly links: readonly EmployeeLink[];
  /** The version of the newest change of a link. */
  readonly linkVersion: number;
}

const initial: EmployeeState = {
  status: 'none',
  emailDigest: '',
  seat: 0,
  isActive: false,
  deactivations: 0,
  isPlaceholder: false,
  record: { email: '', displayName: '', department: null, jobTitle: null, externalId: null },
  links: [],
  linkVersion: 0,
};

export const inPrecedence = <L extends Pick<EmployeeLink, 'source'>>(links: readonly L[]): L[] =>
  provisioningKinds.flatMap((kind) => links.filter(({ source }) => source.kind === kind));

export const employee = defineAggregate<EmployeeState, typeof employeeEvents>(
  employeeEvents,
  initial,
  (state, event) => {
    switch (event.type) {
      case 'EmployeeCreated':
        return {
          ...initial,
          status: 'present',
          emailDigest: event.data.emailDigest,
          seat: event.data.seat,
          isActive: event.data.isActive,
          isPlaceholder: event.data.isPlaceholder,
          record: recordWith(initial.record, event.data),
        };
      case 'EmployeeUpdated': {
        const { email, emailDigest = state.emailDigest, isActive = state.isActive } = event.data;
        const deactivations = state.deactivations + (state.isActive && !isActive ? 1 : 0);
        const isPlaceholder = state.isPlaceholder && email === undefined;
        const record = recordWith(state.record, event.data);
        return { ...state, emailDigest, isActive, deactivations, isPlaceholder, record };
      }
      case 'EmployeeLinked':
      case 'EmployeeLinkChanged': {
        const { userId: _self, ...link } = event.data;
        const others = state.links.filter(({ source }) => source.kind !== link.source.kind);
        return { ...state, links: inPrecedence([...others, link]), linkVersion: link.version };
      }
      case 'EmployeeUnlinked':
        return { ...state, links: state.links.filter(({ source }) => source.kind !== event.data.source.kind) };
      case 'EmployeeDeleted':
        return { ...initial, status: 'deleted' };
      case 'EmployeeErasureRequested':
        return { ...initial, status: 'erasing' };
      case 'EmployeeErased':
        return { ...initial, status: 'erased' };
    }
  },
);

function recordWith(
  record: EmployeeRecord,
  given: { readonly [F in keyof EmployeeRecord]?: EmployeeRecord[F] | undefined },
) {
  const { email, displayName, department, jobTitle, externalId } = given;
  return {
    email: email ?? record.email,
    displayName: displayName ?? record.displayName,
    department: department === undefined ? record.department : department,
    jobTitle: jobTitle === undefined ? record.jobTitle : jobTitle,
    externalId: externalId === undefined ? record.externalId : externalId,
  };
}

/** True for a current employee: not unknown, inactive, deleted or erased. */
export const isEmployed = ({ status, isActive }: EmployeeState): boolean => status === 'present' && isActive;

/** Whether the employee's devices are suspended. False for a placeholder that is about to be created. */
export const hasLeft = ({ status, isActive }: EmployeeState): boolean =>
  status !== 'none' && !(status === 'present' && isActive);

export const employeeStream = (tenantId: TenantId, userId: string): string => streamName('employee', tenantId, userId);

/** An e-mail belongs to one employee of a tenant. The claim's holder is that employee's stream. */
export const employeeEmailClaim = (emailDigest: string): Claim => ({
  kind: 'employee-email',
  value: emailDigest,
  fields: ['email'],
});

/** The seats of the tenant's license are numbered. */
export const SEAT = 'employee-seat';
export const seatClaim = (seat: number): Claim => ({ kind: SEAT, value: String(seat) });

/** The claims of an employee, released when the record is deleted. */
export const employeeClaims = ({
  emailDigest,
  seat,
  links = [],
}: Pick<EmployeeState, 'emailDigest' | 'seat'> & Partial<Pick<EmployeeState, 'links'>>): Claim[] => [
  employeeEmailClaim(emailDigest),
  seatClaim(seat),
  ...links.flatMap((link) => linkClaims(link.source, link)),
];
