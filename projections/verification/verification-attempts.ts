import { employeeEvents } from '../../src/contexts/employees/domain/events.ts';
import { verificationEvents, type VerificationMethod } from '../../src/contexts/verification/domain/events.ts';
import {
  defineReadModel,
  id,
  nullable,
  text,
  timestamp,
  type Column,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

const columns = {
  verification_id: id,
  method: text as Column<VerificationMethod>,
  user_id: id,
  verifier_id: nullable(id),
  result: text as Column<'success' | 'failure'>,
  ip_address: nullable(text),
  occurred_at: timestamp,
};
export type VerificationAttemptRow = Row<{ columns: typeof columns }>;

type Tried = Readonly<{
  data: { verificationId: string; userId: string; method: VerificationMethod; at: string };
  metadata: { actor: { id: string | null; ip?: string } };
}>;

const attempt = (
  { data: { verificationId, userId, method, at }, metadata: { actor } }: Tried,
  result: 'success' | 'failure',
) => ({
  key: { verification_id: verificationId },
  fold: (): VerificationAttemptRow => ({
    verification_id: verificationId,
    method,
    user_id: userId,
    verifier_id: actor.id,
    result,
    ip_address: actor.ip ?? null,
    occurred_at: at,
  }),
});

/**
 * Verification attempts with verifier, employee and result: `GET /verification/audit-events`. A refused attempt counts
 * as a failure.
 */
export const verificationAttempts = defineReadModel({
  name: 'verification_attempts',
  version: 1,
  lane: 'main',
  columns,
  key: ['verification_id'],
  indexes: [
    ['occurred_at desc', 'verification_id'],
    ['user_id', 'occurred_at desc'],
  ],
  families: [verificationEvents, employeeEvents],
  on: {
    VerificationSucceeded: (event) => attempt(event, 'success'),
    VerificationFailed: (event) => attempt(event, 'failure'),
    VerificationRefused: (event) => attempt(event, 'failure'),
    EmployeeErased: (event) => ({ purge: { user_id: event.data.userId } }),
  },
});
