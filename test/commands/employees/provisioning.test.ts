import { describe, expect, it } from 'vitest';
import {
  amendProvisionedEmployee,
  changeProvisionedEmployee,
} from '../../../commands/employees/change-provisioned-employee.ts';
import { deleteEmployee } from '../../../commands/employees/delete-employee.ts';
import { provisionEmployee } from '../../../commands/employees/provision-employee.ts';
import { unprovisionEmployee } from '../../../commands/employees/unprovision-employee.ts';
import { updateEmployee } from '../../../commands/employees/update-employee.ts';
import type { EmployeeEvent } from '../../../src/contexts/employees/domain/events.ts';
import {
  asStatement,
  type EmployeeLink,
  type ProvisionedPerson,
  type ProvisioningSource,
} from '../../../src/contexts/employees/domain/provisioning.ts';
import { notFound } from '../../../src/platform/kernel/failure.ts';
import { given } from '../../dsl/given.ts';

const USER = '44444444-4444-4444-8444-444444444444';
const okta: ProvisioningSource = { kind: 'scim', id: '66666666-6666-4666-8666-666666666661' };
const entra: ProvisioningSource = { kind: 'scim', id: '66666666-6666-4666-8666-666666666662' };
const ldap: ProvisioningSource = { kind: 'directory', id: '66666666-6666-4666-8666-666666666663' };

const ada: ProvisionedPerson = {
  userName: 'Ada',
  externalId: 'x-1',
  email: 'ada@acme.example',
  displayName: 'Ada Lovelace',
  department: 'Research',
  jobTitle: null,
  isActive: true,
  upn: null,
  sid: null,
  profile: { name: { givenName: 'Ada' } },
};
const inDirectory: ProvisionedPerson = {
  ...ada,
  externalId: 'guid-1',
  displayName: 'LOVELACE Ada',
  department: 'R&D',
  jobTitle: 'Countess',
  upn: 'ada@corp.example',
  sid: 'S-1-5-21-1',
  profile: null,
};
const admission = { emailDigest: 'digest of ada', seat: 7 };
const digest = { emailDigest: 'digest of ada' };

const created: EmployeeEvent = {
  type: 'EmployeeCreated',
  data: {
    userId: USER,
    email: 'ada@acme.example',
    displayName: 'Ada',
    department: null,
    jobTitle: 'Lead',
    externalId: null,
    source: 'manual',
    isActive: true,
    isPlaceholder: false,
    ...admission,
  },
};
const linked = (source: ProvisioningSource, person: ProvisionedPerson, version = 1): EmployeeEvent => ({
  type: 'EmployeeLinked',
  data: { ...asStatement(source, person), userId: USER, source, version },
});
const stated = (source: ProvisioningSource, person: ProvisionedPerson, version: number): EmployeeEvent => ({
  type: 'EmployeeLinkChanged',
  data: { ...asStatement(source, person), userId: USER, source, version },
});
const updated = (data: object): EmployeeEvent => ({ type: 'EmployeeUpdated', data: { userId: USER, ...data } });
const unlinked = (source: ProvisioningSource, how: 'left' | 'ended'): EmployeeEvent => ({
  type: 'EmployeeUnlinked',
  data: { userId: USER, source, how },
});
const userName = (source: ProvisioningSource, name: string) => ({
  kind: 'provisioned-user-name',
  value: `${source.kind}|${source.id}|${name}`,
});
const externalId = (source: ProvisioningSource, id: string) => ({
  kind: 'provisioned-external-id',
  value: `${source.kind}|${source.id}|${id}`,
});
const provision = { userId: USER, source: okta, person: ada, ifLinked: 'refuse' } as const;
const taken = { displayName: 'Ada Lovelace', department: 'Research', externalId: 'x-1' };
const known = [created, linked(okta, ada), updated(taken)] as const;

describe('provisioning somebody whom nobody knows', () => {
  it('creates an employee with a seat and a link', () => {
    const outcome = given().when(provisionEmployee, provision, admission);
    outcome.then(
      {
        type: 'EmployeeCreated',
        data: {
          ...created.data,
          displayName: 'Ada Lovelace',
          department: 'Research',
          jobTitle: null,
          externalId: 'x-1',
          source: 'scim',
        } as never,
      },
      linked(okta, ada),
    );
    outcome.thenTakes(
      { kind: 'employee-email', value: 'digest of ada' },
      { kind: 'employee-seat', value: '7' },
      userName(okta, 'ada'),
      externalId(okta, 'x-1'),
    );
    expect(outcome.result()).toEqual({ userId: USER, outcome: 'created', version: 1 });
  });

  it('takes upn and sid from a directory, never from a SCIM client', () => {
    const person = { ...inDirectory };
    given()
      .when(provisionEmployee, { ...provision, person }, admission)
      .thenTakes(
        { kind: 'employee-email', value: 'digest of ada' },
        { kind: 'employee-seat', value: '7' },
        userName(okta, 'ada'),
        externalId(okta, 'guid-1'),
      );
    given()
      .when(provisionEmployee, { ...provision, source: ldap, person }, admission)
      .thenTakes(
        { kind: 'employee-email', value: 'digest of ada' },
        { kind: 'employee-seat', value: '7' },
        userName(ldap, 'ada'),
        externalId(ldap, 'guid-1'),
        { kind: 'employee-upn', value: 'ada@corp.example' },
        { kind: 'employee-sid', value: 's-1-5-21-1' },
      );
  });

  it('gives up after a lost race for the seat only to try the next one', () => {
    expect(provisionEmployee.whenClaimed?.({ kind: 'employee-seat', value: '7' })).toBe('prepareAgain');
    expect(provisionEmployee.whenClaimed?.({ ...userName(okta, 'ada'), fields: ['userName'] })).toMatchObject({
      kind: 'conflict',
      fields: [{ field: 'userName' }],
    });
  });
});

describe('provisioning an employee who exists', () => {
  it('links them and takes over the fields that the source states', () => {
    const outcome = given(created).when(provisionEmployee, provision, digest);
    outcome.then(linked(okta, ada), updated(taken));
    outcome.thenTakes(userName(okta, 'ada'), externalId(okta, 'x-1'));
    expect(outcome.result()).toEqual({ userId: USER, outcome: 'linked', version: 1 });
  });

  it('makes a placeholder a regular employee', () => {
    const placeholder = { type: 'EmployeeCreated', data: { ...created.data, isPlaceholder: true } } as typeof created;
    given(placeholder)
      .when(provisionEmployee, provision, digest)
      .then(linked(okta, ada), updated({ ...taken, email: 'ada@acme.example', emailDigest: 'digest of ada' }));
  });

  it('activates a person who returns', () => {
    given(created, updated({ isActive: false }))
      .when(provisionEmployee, provision, digest)
      .then(linked(okta, ada), updated({ ...taken, isActive: true }));
    given(...known, unlinked(okta, 'left'), updated({ isActive: false }))
      .when(provisionEmployee, provision, digest)
      .then(linked(okta, ada, 2), updated({ isActive: true }));
  });

  it('is refused for a person of this source, or changes them, as asked', () => {
    given(...known)
      .when(provisionEmployee, provision, digest)
      .thenRefused('conflict', 'already exists');
    const update = { ...provision, ifLinked: 'update' } as const;
    const same = given(...known).when(provisionEmployee, update, digest);
    same.thenNothing();
    expect(same.result()).toMatchObject({ outcome: 'unchanged', version: 1 });
    const other = given(...known).when(
      provisionEmployee,
      { ...update, person: { ...ada, department: 'Mathematics' } },
      digest,
    );
    other.then(stated(okta, { ...ada, department: 'Mathematics' }, 2), updated({ department: 'Mathematics' }));
    expect(other.result()).toMatchObject({ outcome: 'changed', version: 2 });
  });

  it('is refused for a person of another source of the same kind, and names it', () => {
    given(...known)
      .when(provisionEmployee, { ...provision, source: entra }, digest)
      .thenRefused('conflict', `email: is owned by SCIM client ${okta.id}`);
  });

  it('never happens to a deleted employee', () => {
    given(created, { type: 'EmployeeDeleted', data: { userId: USER } })
      .when(provisionEmployee, provision, digest)
      .thenRefused('conflict');
  });
});

describe('a person with a SCIM client and a directory', () => {
  const fromDirectory = { ...provision, source: ldap, person: inDirectory, ifLinked: 'update' } as const;

  it('keeps what the SCIM client states, and takes the rest from the directory', () => {
    given(...known)
      .when(provisionEmployee, fromDirectory, digest)
      .then(linked(ldap, inDirectory, 2), updated({ jobTitle: 'Countess' }));
  });

  it('is active only while both say so', () => {
    const both = [...known, linked(ldap, inDirectory, 2), updated({ jobTitle: 'Countess' })] as const;
    const off = (source: ProvisioningSource, person: ProvisionedPerson) =>
      ({ userId: USER, source, person: { ...person, isActive: false } }) as const;
    given(...both)
      .when(changeProvisionedEmployee, off(ldap, inDirectory), digest)
      .then(stated(ldap, { ...inDirectory, isActive: false }, 3), updated({ isActive: false }));
    const out = [...both, stated(ldap, { ...inDirectory, isActive: false }, 3), updated({ isActive: false })] as const;
    given(...out)
      .when(changeProvisionedEmployee, { userId: USER, source: okta, person: ada }, digest)
      .thenNothing();
    given(...out)
      .when(changeProvisionedEmployee, { userId: USER, source: ldap, person: inDirectory }, digest)
      .then(stated(ldap, inDirectory, 4), updated({ isActive: true }));
  });

  it('keeps the status without a word about it, and leaves it to a source that says that they left', () => {
    const silent = { ...provision, keepsStatus: true } as const;
    given(created, updated({ isActive: false }))
      .when(provisionEmployee, silent, digest)
      .then(linked(okta, { ...ada, isActive: false }), updated(taken));
    const gone = { ...inDirectory, isActive: false };
    given(created, linked(ldap, gone), updated({ isActive: false }))
      .when(provisionEmployee, silent, digest)
      .then(linked(okta, ada, 2), updated({ ...taken, jobTitle: 'Countess' }));
  });

  it('keeps the name of somebody whom the source does not name', () => {
    const nameless = { ...provision, person: { ...ada, displayName: ada.userName }, keepsName: true } as const;
    const { displayName: _taken, ...others } = taken;
    given(created)
      .when(provisionEmployee, nameless, digest)
      .then(linked(okta, { ...ada, displayName: 'Ada' }), updated(others));
  });

  it('stays out after one source said that they left, although the other repeats that they are active', () => {
    const left = [
      ...known,
      linked(ldap, inDirectory, 2),
      updated({ jobTitle: 'Countess' }),
      unlinked(okta, 'left'),
      updated({
        isActive: false,
        displayName: 'LOVELACE Ada',
        department: 'R&D',
        externalId: 'guid-1',
      }),
    ] as const;
    given(...known, linked(ldap, inDirectory, 2), updated({ jobTitle: 'Countess' }))
      .when(unprovisionEmployee, { userId: USER, source: okta, how: 'deactivate' })
      .then(left.at(-2)!, left.at(-1)!);
    given(...left)
      .when(changeProvisionedEmployee, { userId: USER, source: ldap, person: inDirectory }, digest)
      .thenNothing();
    given(...left)
      .when(updateEmployee, { userId: USER, isActive: true }, { emailDigest: undefined })
      .then(updated({ isActive: true }));
  });
});

describe('a change by a source', () => {
  const change = { userId: USER, source: okta, person: ada };

  it('clears what it no longer states', () => {
    given(...known)
      .when(changeProvisionedEmployee, { ...change, person: { ...ada, department: null } }, digest)
      .then(stated(okta, { ...ada, department: null }, 2), updated({ department: null }));
  });

  it('moves the e-mail and the names', () => {
    const person = { ...ada, userName: 'Countess', externalId: null, email: 'countess@acme.example' };
    const outcome = given(...known).when(
      changeProvisionedEmployee,
      { ...change, person },
      { emailDigest: 'second digest' },
    );
    outcome.then(
      stated(okta, person, 2),
      updated({ externalId: null, email: 'countess@acme.example', emailDigest: 'second digest' }),
    );
    outcome.thenTakes(userName(okta, 'countess'), { kind: 'employee-email', value: 'second digest' });
    outcome.thenReleases(userName(okta, 'ada'), externalId(okta, 'x-1'), {
      kind: 'employee-email',
      value: 'digest of ada',
    });
  });

  it('needs no new claim for another case of the userName', () => {
    given(...known)
      .when(changeProvisionedEmployee, { ...change, person: { ...ada, userName: 'ADA' } }, digest)
      .thenTakes();
  });

  it('is computed from the newest statement', () => {
    const amend = {
      userId: USER,
      source: okta,
      personFrom: (link: EmployeeLink) => ({ ...ada, department: `${link.department} 2` }),
    };
    const accountDigest = () => 'digest of ada';
    given(...known, stated(okta, { ...ada, department: 'Sales' }, 2), updated({ department: 'Sales' }))
      .when(amendProvisionedEmployee, amend, { accountDigest })
      .then(stated(okta, { ...ada, department: 'Sales 2' }, 3), updated({ department: 'Sales 2' }));
    given(...known)
      .when(amendProvisionedEmployee, { ...amend, ifVersion: 2 }, { accountDigest })
      .thenRefused('stale');
    given(...known)
      .when(amendProvisionedEmployee, { ...amend, personFrom: () => notFound() }, { accountDigest })
      .thenRefused('notFound');
  });

  it('is refused at another version, and unknown to another source', () => {
    given(...known)
      .when(changeProvisionedEmployee, { ...change, ifVersion: 2 }, digest)
      .thenRefused('stale');
    given(...known)
      .when(changeProvisionedEmployee, { ...change, ifVersion: 1 }, digest)
      .thenNothing();
    given(...known)
      .when(changeProvisionedEmployee, { ...change, source: entra }, digest)
      .thenRefused('notFound');
    given(created).when(changeProvisionedEmployee, change, digest).thenRefused('notFound');
  });
});

describe('the end of a link', () => {
  it('deactivates the person, or leaves them as they are', () => {
    const end = { userId: USER, source: okta };
    const left = given(...known).when(unprovisionEmployee, { ...end, how: 'deactivate' });
    left.then(unlinked(okta, 'left'), updated({ isActive: false }));
    left.thenReleases(userName(okta, 'ada'), externalId(okta, 'x-1'));
    given(...known)
      .when(unprovisionEmployee, { ...end, how: 'unlink' })
      .then(unlinked(okta, 'ended'));
    given(...known, unlinked(okta, 'ended'))
      .when(unprovisionEmployee, { ...end, how: 'unlink' })
      .thenRefused('notFound');
  });

  it('comes with the deletion of the employee', () => {
    given(...known)
      .when(deleteEmployee, { userId: USER })
      .thenReleases(
        { kind: 'employee-email', value: 'digest of ada' },
        { kind: 'employee-seat', value: '7' },
        userName(okta, 'ada'),
        externalId(okta, 'x-1'),
      );
  });

  it('gives a returning person no version of before', () => {
    const outcome = given(...known, unlinked(okta, 'ended')).when(provisionEmployee, provision, digest);
    expect(outcome.result()).toEqual({ userId: USER, outcome: 'linked', version: 2 });
  });
});

describe('a change by an administrator', () => {
  const same = { emailDigest: undefined };

  it('is refused for fields that a source owns, which are all named', () => {
    const refused = given(...known).when(
      updateEmployee,
      { userId: USER, displayName: 'A.', department: 'Sales', isActive: false, jobTitle: 'Boss' },
      same,
    );
    refused.thenRefused('conflict', `displayName: is owned by SCIM client ${okta.id}`);
  });

  it('is accepted for other fields, and for a value repeated', () => {
    given(...known)
      .when(updateEmployee, { userId: USER, jobTitle: 'Boss', displayName: 'Ada Lovelace', isActive: true }, same)
      .thenTypes('EmployeeUpdated');
  });
});
