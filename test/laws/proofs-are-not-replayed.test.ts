import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { totpCodeField } from '../../src/contexts/identity/totp.ts';
import { backupCodeField } from '../../src/contexts/identity/backup-codes.ts';
import { presentedPassword } from '../../src/contexts/identity/domain/password-rule.ts';
import { takesIdempotencyKey } from '../../src/app/http/keyed-routes.ts';
import { everyRoute, named } from './every-route.ts';

const CREDENTIALS: ReadonlySet<unknown> = new Set([presentedPassword, totpCodeField, backupCodeField]);

/** Whether the body holds a credential that the route checks. Optional and refined members count too. */
function holdsCredential(schema: unknown): boolean {
  if (CREDENTIALS.has(schema)) return true;
  if (schema instanceof z.ZodObject) return Object.values(schema.shape).some(holdsCredential);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return holdsCredential(schema.unwrap());
  if (schema instanceof z.ZodPipe) return holdsCredential(schema.in);
  return schema instanceof z.ZodUnion && schema.options.some(holdsCredential);
}

/** Routes that check a credential and answer a retry of the same request, each with the reason why that is harmless. */
const ANSWERS_RETRIES: Readonly<Record<string, string>> = {
  'POST /api/v1/admin/change-password':
    'the response holds no token, and the password that was right is no longer the password',
  'POST /api/v1/org/change-password': 'as above',
  'POST /api/v1/admin/mfa/setup/verify':
    'a code works once, backup codes are shown once, and their response must not be lost; behind re-authentication',
  'POST /api/v1/org/mfa/setup/verify': 'as above',
};

const checking = everyRoute.filter(({ body, method }) => method === 'POST' && holdsCredential(body));

describe('a route that checks a credential', () => {
  it('is among the routes', () => {
    expect(checking.map(named)).toEqual(
      expect.arrayContaining([
        'POST /api/v1/auth/login',
        'POST /api/v1/auth/mfa/verify',
        ...Object.keys(ANSWERS_RETRIES),
      ]),
    );
  });

  it.each(checking.map((route) => [named(route), route] as const))('%s makes each call an attempt', (name, route) => {
    expect(takesIdempotencyKey(route), 'declare issuesProof, or say here why retries are harmless').toBe(
      name in ANSWERS_RETRIES,
    );
  });
});
