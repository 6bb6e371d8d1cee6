import { describe, expect, it } from 'vitest';
import { employees } from '../../../projections/employees/employees.ts';
import type { DeviceEvent } from '../../../src/contexts/devices/domain/events.ts';
import type { EmployeeEvent } from '../../../src/contexts/employees/domain/events.ts';
import { ERASED } from '../../../src/platform/kernel/event.ts';
import { browser, first } from '../../commands/devices/histories.ts';
import { history, NOW, rowsAfter } from '../../dsl/given.ts';

const USER = '44444444-4444-4444-8444-444444444444';
const DEVICE = '55555555-5555-4555-8555-555555555555';

const person = (over: object = {}): EmployeeEvent => ({
  type: 'EmployeeCreated',
  data: {
    userId: USER,
    email: 'ada@acme.example',
    emailDigest: 'd',
    displayName: 'Ada',
    department: 'Research',
    jobTitle: null,
    externalId: null,
    source: 'manual',
    isActive: true,
    isPlaceholder: false,
    seat: 1,
    ...over,
  },
});
const updated = (changes: object): EmployeeEvent => ({ type: 'EmployeeUpdated', data: { userId: USER, ...changes } });
const enrolled: DeviceEvent = {
  type: 'DeviceEnrolled',
  data: { ...first, ...browser, deviceId: DEVICE, userId: USER },
};
const at = (n: number) => new Date(NOW + n * 1_000).toISOString();

/** The rows do not depend on the batches. */
function after(...events: (EmployeeEvent | DeviceEvent)[]) {
  const log = history(...events);
  const rows = rowsAfter(employees, log);
  for (const size of [1, 2]) expect(rowsAfter(employees, log, size)).toEqual(rows);
  return rows;
}

describe('the employees table', () => {
  it('holds the fields of an employee', () => {
    expect(after(person())).toMatchObject([
      {
        user_id: USER,
        email: 'ada@acme.example',
        display_name: 'Ada',
        department: 'Research',
        job_title: null,
        status: 'pending',
        source: 'manual',
        is_placeholder: false,
        created_at: at(1),
        updated_at: at(1),
      },
    ]);
  });

  it('changes the fields of an update, including to null', () => {
    const [row] = after(person(), updated({ department: null, jobTitle: 'Lead' }));
    expect(row).toMatchObject({
      email: 'ada@acme.example',
      display_name: 'Ada',
      department: null,
      job_title: 'Lead',
      created_at: at(1),
      updated_at: at(2),
    });
  });

  it.each([
    ['pending until a device enrolls', [person()], 'pending'],
    ['active from then on', [person(), enrolled], 'active'],
    ['inactive while set so', [person(), enrolled, updated({ isActive: false })], 'inactive'],
    ['active again', [person(), enrolled, updated({ isActive: false }), updated({ isActive: true })], 'active'],
    ['inactive also when a device enrolls later', [person({ isActive: false }), enrolled], 'inactive'],
    ['pending as a placeholder, though it comes of a device', [enrolled, person({ isPlaceholder: true })], 'pending'],
    [
      'active when a placeholder got an e-mail of its own',
      [enrolled, person({ isPlaceholder: true }), updated({ email: 'ada@acme.example' })],
      'active',
    ],
  ] as const)('shows %s', (_what, history, status) => {
    expect(after(...history)).toMatchObject([{ status }]);
  });

  it('omits deleted employees, whatever events follow', () => {
    const deleted: EmployeeEvent = { type: 'EmployeeDeleted', data: { userId: USER } };
    expect(after(person(), deleted, enrolled, updated({ displayName: 'Late' }))).toEqual([]);
  });

  it('omits employees whose values were erased', () => {
    expect(after(person({ email: ERASED, displayName: ERASED }), updated({ email: ERASED }), enrolled)).toEqual([]);
  });
});
