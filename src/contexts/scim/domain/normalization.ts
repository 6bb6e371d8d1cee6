import type { ScimProfile } from './client-events.ts';

/** What was forgiven in a request. The audit log names it, without any value. */
export const normalizations = [
  'op in another case',
  'operation without path',
  'dotted attribute name',
  'attribute name in another case',
  'boolean as text',
  'number as text',
  'single value for a list',
  'plain value for a complex one',
  'unknown attribute',
  'read-only attribute',
  'password discarded',
  'members removed by value',
  'value created for a filter that matched none',
  'schemas missing or incomplete',
  'several primary values',
  'list for a single value',
] as const;
export type Normalization = (typeof normalizations)[number];

/** One request: whose habits are forgiven, and what was. */
export class Leniency {
  readonly profile: ScimProfile;
  readonly #noted = new Set<Normalization>();

  constructor(profile: ScimProfile) {
    this.profile = profile;
  }

  note(what: Normalization): void {
    this.#noted.add(what);
  }

  get noted(): Normalization[] {
    return normalizations.filter((each) => this.#noted.has(each));
  }
}
