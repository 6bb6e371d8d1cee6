/**
 * Of many requests that create one person at once, the first goes ahead, and the others wait for it. They then find the
 * person with look-ups that share a statement. Otherwise each of them would make a key and try an append, one after the
 * other, as all claim one name. Only within a process: between processes the claims decide.
 */
export class SameCreations {
  readonly #first = new Map<string, Promise<unknown>>();

  /** `name`: of the person, and of whoever creates them. */
  async afterFirst<Made>(name: string, create: () => Promise<Made>): Promise<Made> {
    const first = this.#first.get(name);
    if (first) {
      await first.catch(() => undefined);
      return create();
    }
    const made = create();
    this.#first.set(name, made);
    try {
      return await made;
    } finally {
      this.#first.delete(name);
    }
  }
}
