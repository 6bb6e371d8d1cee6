/** A wrong secret counts one, a right one takes off several: people who mistype sign in all the same. */
const RIGHT = 4;
/** From here on somebody guesses. */
const SUSPECT = 8;
/** No flood is remembered for longer than a few right secrets. */
const MAX = 16;

/** At which tenants more secrets are wrong than people mistype. Forgotten tenants are those without a wrong one. */
export class Suspicions {
  readonly #wrong = new Map<string, number>();

  note(tenantId: string, isRight: boolean): void {
    const wrong = Math.min(MAX, (this.#wrong.get(tenantId) ?? 0) + (isRight ? -RIGHT : 1));
    if (wrong > 0) this.#wrong.set(tenantId, wrong);
    else this.#wrong.delete(tenantId);
  }

  isSuspect(tenantId: string): boolean {
    return (this.#wrong.get(tenantId) ?? 0) >= SUSPECT;
  }
}
