import type { RecordedEvent } from '../kernel/event.ts';
import type { AnyReadModel } from '../kernel/read-model.ts';
import type { Checkpoint, Checkpoints } from './checkpoints.ts';
import type { DeadLetters } from './dead-letters.ts';
import type { DeadLetterStart, LaneMember, MemberEvents } from './lane-member.ts';
import { Projection } from './projection.ts';

interface MemberServices {
  readonly checkpoints: Checkpoints;
  readonly deadLetters: DeadLetters;
}

/** The read models of a lane whose leases this process holds. */
export class LaneMembers {
  readonly #models: readonly AnyReadModel[];
  readonly #services: MemberServices;
  #members: readonly LaneMember[] = [];
  #names: readonly string[] = [];
  /** By type of event. Cached, because it is needed for every event. */
  readonly #followers = new Map<string, readonly LaneMember[]>();

  constructor(models: readonly AnyReadModel[], services: MemberServices) {
    this.#models = models;
    this.#services = services;
  }

  get all(): readonly LaneMember[] {
    return this.#members;
  }

  get first(): LaneMember | undefined {
    return this.#members[0];
  }

  get names(): readonly string[] {
    return this.#names;
  }

  /** True if this process holds the leases of every model of the lane. */
  get areComplete(): boolean {
    return this.#members.length === this.#models.length;
  }

  /** Saves all checkpoints, which renews their leases. */
  async save(): Promise<void> {
    if (this.#members.length === 0) return;
    const moves = this.#members.map((member) => ({
      member,
      checkpoint: member.checkpoint,
      from: member.saved,
      to: member.position,
    }));
    await this.#services.checkpoints.renew(moves);
    for (const { member, to } of moves) member.saved = to;
  }

  /** Acquires leases that are free, or with `seize` all that this process does not hold. Returns the acquired ones. */
  async acquireFree(seize: boolean): Promise<readonly Checkpoint[]> {
    const held = new Set(this.#names);
    const free = this.#models.filter((model) => !held.has(model.name));
    if (free.length === 0) return [];
    const { checkpoints, deadLetters } = this.#services;
    const taken = await checkpoints.acquire(
      free.map(({ name, version }) => ({ name, version })),
      ['live'],
      seize,
    );
    if (taken.length === 0) return [];
    const streams = await deadLetters.streamsOf(taken);
    const members = taken.map((checkpoint): LaneMember => {
      const model = free.find(({ name }) => name === checkpoint.name)!;
      const parked = new Map(
        (streams.get(checkpoint) ?? []).map((stream): [string, DeadLetterStart] => [
          stream,
          { from: 0n, reason: 'parked earlier' },
        ]),
      );
      return {
        checkpoint,
        position: checkpoint.position,
        saved: checkpoint.position,
        projection: new Projection(model, checkpoint.generation),
        parked,
      };
    });
    this.#lead([...this.#members, ...members]);
    return taken;
  }

  /** Gives the leases back. Errors are ignored: a lease expires. */
  async release(): Promise<void> {
    const held = this.#members.map(({ checkpoint }) => checkpoint);
    await this.#services.checkpoints.release(held).catch(() => undefined);
  }

  /** Forgets all members, with their cached rows. */
  drop(): void {
    this.#lead([]);
  }

  /** In the order of the members, so that pages with the same members use the same statement. */
  concernedBy(events: readonly RecordedEvent[]): MemberEvents[] {
    const mine = new Map<LaneMember, RecordedEvent[]>();
    for (const event of events) {
      for (const member of this.followersOf(event.type)) {
        if (event.position <= member.position) continue;
        const known = mine.get(member);
        if (known) known.push(event);
        else mine.set(member, [event]);
      }
    }
    return this.#members.flatMap((member) => (mine.has(member) ? { member, mine: mine.get(member)! } : []));
  }

  #lead(members: readonly LaneMember[]): void {
    this.#members = members;
    this.#names = members.map(({ checkpoint }) => checkpoint.name);
    this.#followers.clear();
  }

  /** The members that fold events of a type. */
  followersOf(type: string): readonly LaneMember[] {
    let followers = this.#followers.get(type);
    if (!followers)
      this.#followers.set(type, (followers = this.#members.filter(({ projection }) => projection.wants(type))));
    return followers;
  }
}
