/**
 * True for an SQLSTATE of the classes 21, 22, 23 and 54 (cardinality, data, integrity, program limits such as the
 * longest key of an index): the database refuses this value. The outcome is certain, and a retry does not help.
 */
export const isRefusal = (error: unknown): boolean =>
  /^(2[123]|54)/.test((error as { code?: string } | undefined)?.code ?? '');
