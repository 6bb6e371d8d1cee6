/** A set of employees, as two databases' tables can compare it without listing it. */
export interface MemberDigest {
  readonly members: number;
  readonly digest: string;
}

export const NO_MEMBERS: MemberDigest = { members: 0, digest: '0' };
