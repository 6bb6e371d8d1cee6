/** The named members of an object, in this order: what may leave the object is listed once. */
export const pick = <T extends object, const Name extends keyof T>(object: T, names: readonly Name[]): Pick<T, Name> =>
  Object.fromEntries(names.map((name) => [name, object[name]])) as Pick<T, Name>;
