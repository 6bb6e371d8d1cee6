/**
 * Names of read models that commands freshen and callers wait for. The kernel knows none of them. Who maintains read
 * models adds their names by declaration merging; the application does so in `src/contexts/read-model-names.ts`.
 */
export interface ReadModelNames {}

declare const derived: unique symbol;
type DerivedReadModelName = string & { readonly [derived]: true };

/** A name that is listed, or one that was derived together with its model. A misspelled name does not compile. */
export type ReadModelName = keyof ReadModelNames | DerivedReadModelName;

/** For code that makes the model from the same declaration as the name: a declared resource. */
export const derivedReadModelName = (name: string): ReadModelName => name as DerivedReadModelName;
