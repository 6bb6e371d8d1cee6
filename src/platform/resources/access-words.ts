/**
 * The roles and permissions that declarations name. The product fills this in by declaration merging (`permissions.ts`),
 * so that the engine of declared resources depends on no product's roles, and a misspelled permission does not compile.
 */
export interface AccessWords {}

type Word<Kind extends string> =
  AccessWords extends Readonly<Record<Kind, infer Words extends string>> ? Words : string;

export type PermissionName = Word<'permission'>;
export type RoleName = Word<'role'>;
