/**
 * Names of read models that commands freshen and callers wait for. The kernel knows none of them. Code that defines
 * read models adds their names by declaration merging; the application does so in `src/contexts/read-model-names.ts`.
 */
export interface ReadModelNames {}

declare const derived: unique symbol;
type DerivedReadModelName = string & { readonly [derived]: true };

/** A listed name, or one derived together with its model. A misspelled name does not compile. */
export type ReadModelName = keyof ReadModelNames | DerivedReadModelName;

/** For code that derives model and name from one declaration: a declared resource. */
export const derivedReadModelName = (name: string): ReadModelName => name as DerivedReadModelName;
