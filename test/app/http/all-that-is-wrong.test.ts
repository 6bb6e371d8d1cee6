import { beforeAll, describe, expect, it } from 'vitest';
import { sharedApp } from '../../dsl/app.ts';
import type { Client } from '../../dsl/http-client.ts';

const NOT_TEXT = 'contains characters that are not text';

describe('a refusal names all that is wrong, each field once:', () => {
  let admin: Client;
  beforeAll(async () => {
    admin = (await (await sharedApp()).newTenant()).admin;
  });
  const fieldsOf = ({ body }: { body: { fields: { field: string; message: string }[] } }) =>
    Object.fromEntries(body.fields.map(({ field, message }) => [field, message]));

  it('a text with NUL beside fields that the schema refuses', async () => {
    const refused = await admin.post('/api/v1/admin/users', { displayName: 'a\0', email: 'none', department: 7 });
    expect(refused.status).toBe(400);
    expect(fieldsOf(refused)).toEqual({
      displayName: NOT_TEXT,
      email: 'is not a valid email',
      department: 'must be of type string',
    });
    expect(refused.body.fields).toHaveLength(3);
  });

  it('a text that is none, and nothing else of it', async () => {
    const refused = await admin.post('/api/v1/admin/users', { displayName: 'A', email: 'a\0' });
    expect(refused.body.fields).toEqual([{ field: 'email', message: NOT_TEXT }]);
  });

  it('the first hundred of many, in their order', async () => {
    const refused = await admin.post('/api/v1/admin/groups', { name: 'x', userIds: Array<string>(300).fill('a\0') });
    expect(refused.body.fields.map(({ field }: { field: string }) => field)).toEqual(
      Array.from({ length: 100 }, (_, at) => `userIds.${at}`),
    );
  });

  it('the fields of the route before hundreds that it does not know', async () => {
    const refused = await admin.post('/api/v1/admin/users', { email: 5, junk: Array<string>(300).fill('a\0') });
    const fields = refused.body.fields.map(({ field }: { field: string }) => field);
    expect([fields.length, ...fields.slice(0, 3)]).toEqual([100, 'email', 'displayName', 'junk.0']);
  });

  it('a form whose fields come twice, and what is missing in it', async () => {
    const form = new FormData();
    for (const name of ['version', 'signature', 'version', 'signature']) form.append(name, 'zz');
    const raw = new Response(form);
    const headers = { 'content-type': raw.headers.get('content-type')! };
    const refused = await admin.send('POST', '/api/v1/admin/users/import', {
      raw: Buffer.from(await raw.arrayBuffer()),
      headers,
    });
    expect([refused.status, fieldsOf(refused)]).toEqual([
      400,
      { file: 'is required', version: 'comes twice', signature: 'comes twice' },
    ]);
  });

  it('the head of a pack of signatures, and what is in it', async () => {
    const form = new FormData();
    form.append('file', new Blob([JSON.stringify({ name: 7, version: '1', signatures: [{ severity: 'none' }] })]), 'p');
    const raw = new Response(form);
    const refused = await admin.send('POST', '/api/v1/admin/signatures/upload', {
      raw: Buffer.from(await raw.arrayBuffer()),
      headers: { 'content-type': raw.headers.get('content-type')! },
    });
    expect(Object.keys(fieldsOf(refused))).toEqual(
      expect.arrayContaining(['name', 'signatures.0.name', 'signatures.0.severity']),
    );
  });

  it('parameters that are not text beside wrong ones', async () => {
    const refused = await admin.get('/api/v1/admin/users?search=%FF&page=x&page_size=%00&status=none');
    expect(refused.status).toBe(400);
    expect(Object.keys(fieldsOf(refused)).sort()).toEqual(['page', 'page_size', 'search', 'status']);
  });

  it('two faults of one field', async () => {
    const expiresAt = 'x'.repeat(30);
    const refused = await admin.post('/api/v1/admin/scim/clients', { name: 'x', expiresAt });
    expect(refused.body.fields).toEqual([{ field: 'expiresAt', message: 'is not a valid datetime' }]);
  });

  it('an address in another script, with the way to write it', async () => {
    const created = { email: 'ann@b\u00fccher.example', displayName: 'Ann', roleType: 'analyst' };
    const refused = await admin.post('/api/v1/admin/admin-users', created);
    expect(refused.body.fields[0]).toEqual({
      field: 'email',
      message: 'is not a valid email: a host in another script is written as xn--…',
    });
  });

  it('a page that no list can have', async () => {
    const refused = await admin.get('/api/v1/admin/users?page=1000000000');
    expect([refused.status, fieldsOf(refused)]).toEqual([400, { page: 'must be a whole number from 1 to 999999999' }]);
  });
});
