import { describe, expect, it } from 'vitest';
import { openApiDocument } from '../../src/app/http/openapi/document.ts';
import { examples } from '../../src/app/http/openapi/examples.ts';
import { routeGroups } from '../../src/app/http/routes/index.ts';
import { describedOperations, exampleProblems, missingExamples, secretsLeft } from '../dsl/example-check.ts';
import { Sanitizer } from '../dsl/sanitized-exchange.ts';

const HOW =
  'record it: node --import tsx scripts/record-examples.ts <test files that call the operation> (CONTRIBUTING.md, "Record examples")';

describe('examples of the API description', () => {
  it('exist for every operation with a body or a readable response', () => {
    expect(missingExamples(examples), HOW).toEqual([]);
  });

  it('fit the operation as it is described, with nothing beside it, and hold no secret', () => {
    const wrong = Object.entries(examples).flatMap(([operationId, example]) =>
      exampleProblems(operationId, example).map((problem) => `${operationId}: ${problem}`),
    );
    expect(wrong, `of an operation that is gone: delete the example; otherwise ${HOW}`).toEqual([]);
  });

  it('are in the document, in requests and in responses', () => {
    const text = JSON.stringify(openApiDocument(routeGroups));
    const { operationId, request, response } = { operationId: 'addUser', ...examples['addUser'] };
    expect(describedOperations.has(operationId)).toBe(true);
    for (const part of [request, response]) expect(text).toContain(`"example":${JSON.stringify(part)}`);
  });
});

describe('the recorder', () => {
  const now = Date.parse('2027-05-06T07:08:09.000Z');
  const sanitized = (value: unknown): unknown => {
    const sanitizer = new Sanitizer(now);
    sanitizer.learn(value);
    return sanitizer.value(value);
  };

  it('replaces ids, people, times and addresses by stable ones, and keeps what is equal', () => {
    const id = '7b0f6a3e-29f4-4f0a-9d55-0a7c3b1f2e4d';
    expect(
      sanitized({
        id,
        link: `http://127.0.0.1:40123/a/${id}?x=1`,
        email: 'owner@1a2b3c4d.example',
        again: 'owner@1a2b3c4d.example',
        startedAt: '2027-05-06T07:08:10.123Z',
        endedAt: '2027-05-06T07:08:11.000Z',
        expiresAt: '2027-05-08T07:08:10.123Z',
        day: '2027-05-05',
        many: [1, 2, 3],
      }),
    ).toEqual({
      id: '00000000-0000-4000-8000-000000000001',
      link: 'https://castellan.example/a/00000000-0000-4000-8000-000000000001?x=1',
      email: 'ann@acme.example',
      again: 'ann@acme.example',
      startedAt: '2026-01-15T09:30:00.000Z',
      endedAt: '2026-01-15T09:31:00.000Z',
      expiresAt: '2026-01-17T09:32:00.000Z',
      day: '2026-01-14',
      many: [1, 2],
    });
  });

  it('replaces secrets, by the name of the member and by their form, and the law would find them', () => {
    const pem = '-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ\n-----END PRIVATE KEY-----\n';
    const secrets = {
      accessToken: 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
      currentPassword: 'Correct-Horse-7!',
      clientSecret: 'hush',
      note: 'Bearer eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
      file: pem,
      url: 'https://castellan.example/?sig=Zk3vQ9xT1bLr8WmC5yHs2dNf7aUe4gPj',
      backupCodes: ['1234-5678', '8765-4321'],
    };
    for (const [name, secret] of Object.entries(secrets)) {
      expect([name, secretsLeft({ [name]: secret })]).toEqual([name, expect.arrayContaining([expect.any(String)])]);
      expect([name, secretsLeft(sanitized({ [name]: secret }))]).toEqual([name, []]);
    }
    expect(JSON.stringify(sanitized(secrets))).not.toMatch(/eyJ|Correct|hush|MC4C|Zk3v|5678/);
  });
});
