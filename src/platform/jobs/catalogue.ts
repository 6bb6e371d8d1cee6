import { v7 as uuidv7 } from 'uuid';
import type { TenantId } from '../kernel/ids.ts';
import type { JobRequest } from '../kernel/job.ts';
import { DEFAULT_LANE, JobFailed, type AnyJob } from './job.ts';
import type { EnqueueOptions } from './jobs.ts';

/** The stored parts of a job besides its name and id. */
export interface JobPayload {
  readonly tenantId: TenantId | null;
  readonly correlationId: string | null;
  readonly data: unknown;
}

/** A job that may be enqueued: registered, and with valid data. */
export interface PreparedJob {
  readonly definition: AnyJob;
  readonly id: string;
  readonly payload: JobPayload;
  readonly delayMs: number;
}

const NAME = /^[a-z][a-z0-9-]{0,63}$/;
const LONGEST_ID = 200;
/** Bytes of JSON. Store larger data in a table or an object, and its key in the job. */
const LARGEST_PAYLOAD = 64 * 1024;

export const laneOf = (definition: AnyJob): string => definition.lane ?? DEFAULT_LANE;

/** The jobs that this build knows, by name. */
export class JobCatalogue {
  readonly #byName = new Map<string, AnyJob>();

  constructor(definitions: readonly AnyJob[]) {
    for (const definition of definitions) {
      const { name, lane } = definition;
      if (!NAME.test(name) || (lane !== undefined && !NAME.test(lane)))
        throw new TypeError(`job ${name}: names and lanes are lower case with hyphens`);
      if (this.#byName.has(name)) throw new TypeError(`job ${name} is declared twice`);
      this.#byName.set(name, definition);
    }
  }

  get lanes(): readonly string[] {
    return [...new Set([DEFAULT_LANE, ...[...this.#byName.values()].map(laneOf)])];
  }

  named(name: string): AnyJob | undefined {
    return this.#byName.get(name);
  }

  /** Throws if the job could not run: not registered, or invalid data. */
  prepare({ job: { name }, data }: JobRequest, options: EnqueueOptions = {}): PreparedJob {
    const definition = this.#byName.get(name);
    if (!definition) throw new TypeError(`there is no job ${name}`);
    const checked = definition.data.safeParse(data);
    if (!checked.success) throw new TypeError(`job ${name}: its data is invalid: ${fieldsOf(checked.error)}`);
    const payload: JobPayload = {
      tenantId: options.tenantId ?? tenantIn(data) ?? null,
      correlationId: options.correlationId ?? null,
      data: data ?? null,
    };
    if (Buffer.byteLength(JSON.stringify(payload)) > LARGEST_PAYLOAD)
      throw new TypeError(`job ${name}: its data is too large`);
    return { definition, id: jobId(name, options.id), payload, delayMs: Math.max(0, Math.ceil(options.delayMs ?? 0)) };
  }

  /** The data of a job, parsed by this build's schema. Another build may have enqueued the job. */
  read(definition: AnyJob, payload: JobPayload): unknown {
    const checked = definition.data.safeParse(payload.data ?? undefined);
    if (!checked.success) throw new JobFailed(`its data is invalid: ${fieldsOf(checked.error)}`, { final: true });
    return checked.data;
  }
}

/** The paths of invalid fields, without their values. */
const fieldsOf = (error: { issues: readonly { path: readonly PropertyKey[]; code?: string }[] }): string =>
  error.issues.map(({ path, code }) => `${path.map(String).join('.') || '(all)'} ${code ?? ''}`.trim()).join(', ');

const tenantIn = (data: unknown): TenantId | undefined =>
  typeof data === 'object' && data !== null && typeof (data as { tenantId?: unknown }).tenantId === 'string'
    ? ((data as { tenantId: string }).tenantId as TenantId)
    : undefined;

/**
 * An id is unique within its name. The default is a new UUID: a counter would make concurrent transactions wait for
 * each other.
 */
function jobId(name: string, id: string | undefined): string {
  const full = `${name}/${encodeURIComponent(id ?? uuidv7())}`; // colons separate the parts of Redis keys
  if (full.length > LONGEST_ID) throw new TypeError(`job ${name}: its id is too long`);
  return full;
}
