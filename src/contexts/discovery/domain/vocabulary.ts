import { authMethods } from '../../telemetry/domain/vocabulary.ts';

/** Choice OP-091. */
export const classifications = ['unknown', 'corporate', 'approved', 'personal', 'unapproved', 'malicious'] as const;
export type Classification = (typeof classifications)[number];

/** Choice OP-092. */
export const identityProviders = ['entra_id', 'google', 'okta', 'other', 'none'] as const;
export type IdentityProvider = (typeof identityProviders)[number];

/** Choice OP-093; null restores the detected value. */
export const mfaOverrideValues = ['enabled', 'disabled'] as const;
export type MfaOverride = (typeof mfaOverrideValues)[number];

export type AuthMethod = (typeof authMethods)[number];

/**
 * A set of methods as a bit mask: one number in a row and in an index. Bit positions must never change: append new
 * methods at the end.
 */
export const methodBit = (method: AuthMethod): number => 1 << authMethods.indexOf(method);
export const methodsOf = (bits: number): AuthMethod[] =>
  authMethods.filter((method) => (bits & methodBit(method)) !== 0);
