import { describe, expect, it } from 'vitest';
import { createEmployee, type CreateEmployee } from '../../../commands/employees/create-employee.ts';
import { createPlaceholderEmployee } from '../../../commands/employees/create-placeholder-employee.ts';
import { deleteEmployee } from '../../../commands/employees/delete-employee.ts';
import { carryOutErasure } from '../../../commands/employees/carry-out-erasure.ts';
import { erasePerson } from '../../../commands/employees/erase-person.ts';
import { updateEmployee } from '../../../commands/employees/update-employee.ts';
import { employee } from '../../../src/contexts/employees/domain/employee.ts';
import type { EmployeeEvent } from '../../../src/contexts/employees/domain/events.ts';
import { system } from '../../../src/platform/kernel/actor.ts';
import { context, given, TENANT } from '../../dsl/given.ts';

const USER = '44444444-4444-4444-8444-444444444444';
const DEVICE = '55555555-5555-4555-8555-555555555555';

const input: CreateEmployee = {
  userId: USER,
  email: 'Ada@acme.example',
  displayName: 'Ada',
  department: 'Research',
  jobTitle: null,
  externalId: null,
  source: 'manual',
  isActive: true,
};
const admission = { emailDigest: 'digest of ada', seat: 7 };
const created: EmployeeEvent = { type: 'EmployeeCreated', data: { ...input, ...admission, isPlaceholder: false } };
const deleted: EmployeeEvent = { type: 'EmployeeDeleted', data: { userId: USER } };
const requested: EmployeeEvent = { type: 'EmployeeErasureRequested', data: { userId: USER } };
const erased: EmployeeEvent = { type: 'EmployeeErased', data: { userId: USER } };
const email = (value: string) => ({ kind: 'employee-email', value });
const seat = (value: string) => ({ kind: 'employee-seat', value });

describe('creating an employee', () => {
  it('claims the e-mail and a seat', () => {
    const outcome = given().when(createEmployee, input, admission);
    outcome.then(created);
    outcome.thenTakes(email('digest of ada'), seat('7'));
  });

  it('rejects an id that was ever used', () => {
    given(created).when(createEmployee, input, admission).thenRefused('conflict');
    given(created, deleted).when(createEmployee, input, admission).thenRefused('conflict');
  });

  it('tries another seat after losing one; a lost e-mail is a duplicate', () => {
    expect(createEmployee.whenClaimed?.(seat('7'))).toBe('prepareAgain');
    expect(createEmployee.whenClaimed?.(email('x'))).toMatchObject({ kind: 'conflict' });
  });
});

describe('creating a placeholder', () => {
  const wanted = { userId: USER, deviceId: DEVICE };

  it('names the device and no person', () => {
    const outcome = given().when(createPlaceholderEmployee, wanted, admission);
    outcome.then({
      type: 'EmployeeCreated',
      data: {
        userId: USER,
        email: `device-${DEVICE}@placeholder.invalid`,
        displayName: 'Device 55555555',
        department: null,
        jobTitle: null,
        externalId: null,
        source: 'enrollment',
        isActive: true,
        isPlaceholder: true,
        ...admission,
      },
    });
    outcome.thenTakes(email('digest of ada'), seat('7'));
  });

  it('has no effect the second time', () => {
    given(created).when(createPlaceholderEmployee, wanted, 'known').thenNothing();
    given(created).when(createPlaceholderEmployee, wanted, admission).thenNothing();
  });
});

describe('changing an employee', () => {
  const same = { emailDigest: undefined };

  it('records only the fields that were sent', () => {
    const outcome = given(created).when(
      updateEmployee,
      { userId: USER, jobTitle: 'Lead', department: null, displayName: undefined },
      same,
    );
    outcome.then({ type: 'EmployeeUpdated', data: { userId: USER, jobTitle: 'Lead', department: null } });
    outcome.thenTakes();
    outcome.thenReleases();
  });

  it('replaces the e-mail claim', () => {
    const outcome = given(created).when(
      updateEmployee,
      { userId: USER, email: 'ada@new.example', reauthenticated: true },
      { emailDigest: 'new digest' },
    );
    outcome.then({
      type: 'EmployeeUpdated',
      data: { userId: USER, email: 'ada@new.example', emailDigest: 'new digest' },
    });
    outcome.thenTakes(email('new digest'));
    outcome.thenReleases(email('digest of ada'));
  });

  it('requires re-authentication of administrators for another e-mail, and for nothing else', () => {
    const moved = { userId: USER, email: 'ada@new.example', displayName: 'Ada' };
    given(created).when(updateEmployee, moved, { emailDigest: 'new digest' }).thenRefused('forbidden');
    given(created)
      .when(updateEmployee, { userId: USER, displayName: 'Ada', isActive: false }, same)
      .thenTypes('EmployeeUpdated');
  });

  it('claims nothing if only the case of the e-mail differs', () => {
    const outcome = given(created).when(
      updateEmployee,
      { userId: USER, email: 'ada@ACME.example' },
      { emailDigest: 'digest of ada' },
    );
    outcome.thenTypes('EmployeeUpdated');
    outcome.thenTakes();
    outcome.thenReleases();
  });

  it('records nothing if no field was sent', () => {
    given(created).when(updateEmployee, { userId: USER }, same).thenNothing();
  });

  it('fails for an unknown employee', () => {
    given().when(updateEmployee, { userId: USER }, same).thenRefused('notFound');
    given(created, deleted).when(updateEmployee, { userId: USER, displayName: 'x' }, same).thenRefused('notFound');
  });
});

describe('deleting an employee', () => {
  it('releases their claims', () => {
    const outcome = given(created).when(deleteEmployee, { userId: USER });
    outcome.then(deleted);
    outcome.thenReleases(email('digest of ada'), seat('7'));
  });

  it('releases their current e-mail', () => {
    const moved: EmployeeEvent = {
      type: 'EmployeeUpdated',
      data: { userId: USER, email: 'b@acme.example', emailDigest: 'second' },
    };
    given(created, moved).when(deleteEmployee, { userId: USER }).thenReleases(email('second'), seat('7'));
  });

  it('fails for an unknown employee', () => {
    given().when(deleteEmployee, { userId: USER }).thenRefused('notFound');
    given(created, deleted).when(deleteEmployee, { userId: USER }).thenRefused('notFound');
  });
});

describe('erasing a person', () => {
  it('requires re-authentication of administrators, but not of the service itself', () => {
    given(created).when(erasePerson, { userId: USER }).thenRefused('forbidden', 're-authentication required');
    given(created, deleted, requested)
      .when(erasePerson, { userId: USER, reauthenticated: false })
      .thenRefused('forbidden', 're-authentication required');
    given(created)
      .when(erasePerson, { userId: USER }, undefined, { actor: system('castellan person erase') })
      .then(deleted, requested);
  });

  it('deletes the record as well', () => {
    const outcome = given(created).when(erasePerson, { userId: USER, reauthenticated: true });
    outcome.then(deleted, requested);
    outcome.thenReleases(email('digest of ada'), seat('7'));
  });

  it('also covers an employee who was deleted before, whose e-mail another one may have by now', () => {
    const outcome = given(created, deleted).when(erasePerson, { userId: USER, reauthenticated: true });
    outcome.then(requested);
    outcome.thenReleases();
  });

  it('has no effect the second time, and fails for an unknown person', () => {
    given(created, deleted, requested).when(erasePerson, { userId: USER, reauthenticated: true }).thenNothing();
    given(created, deleted, requested, erased).when(erasePerson, { userId: USER, reauthenticated: true }).thenNothing();
    given().when(erasePerson, { userId: USER, reauthenticated: true }).thenRefused('notFound');
  });

  it('is recorded as done once', () => {
    given(created, deleted, requested).when(carryOutErasure, { userId: USER }).then(erased);
    given(created, deleted, requested, erased).when(carryOutErasure, { userId: USER }).thenNothing();
  });

  it('destroys the key only after the decision, and before recording that it is done', async () => {
    const destroyed: string[] = [];
    const personKeys = {
      forSealing: async () => undefined,
      forSealingAll: async () => new Map(),
      forOpening: async () => new Map(),
      destroy: async (_tenant: string, person: string) => (destroyed.push(person), true),
      forget: () => undefined,
    };
    const prepare = (...history: EmployeeEvent[]) => {
      const state = history.reduce((folded, event) => employee.fold(folded, event), employee.initial);
      const aggregates = { load: async () => state as never };
      return carryOutErasure.prepare!({ userId: USER }, { aggregates, personKeys }, context({ tenantId: TENANT }));
    };
    expect(await prepare(created)).toMatchObject({ kind: 'conflict' });
    expect(await prepare(created, deleted)).toMatchObject({ kind: 'conflict' });
    expect(destroyed).toEqual([]);
    await prepare(created, deleted, requested);
    expect(destroyed).toEqual([USER]);
  });
});
