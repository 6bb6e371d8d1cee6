import { z } from 'zod';
import { folded } from '../../src/contexts/employees/domain/provisioning.ts';
import type { AttributePath, Comparison, Filter } from '../../src/contexts/scim/domain/filter.ts';
import { resolvePath, type ResolvedPath } from '../../src/contexts/scim/domain/resolve-path.ts';
import { attributeNamed, type ScimAttribute } from '../../src/contexts/scim/domain/schema.ts';
import { FailureError, invalid } from '../../src/platform/kernel/failure.ts';
import { isUuid } from '../../src/platform/kernel/ids.ts';
import { isStorable } from '../../src/platform/kernel/storable-instant.ts';
import { columnText, type ScimColumn, type ScimTable } from './scim-table.ts';

type Value = string | number | boolean | null;

const refuseFilter = (reason: string): never => {
  throw new FailureError(invalid('filter', reason, 'scim_invalid_filter'));
};

/** SQL for a filter. Values are parameters; names come from the schemas. Adds to `parameters`. */
export class FilterCompiler {
  readonly #table: ScimTable;
  readonly #parameters: unknown[];

  /** `parameters` holds those that the statement has already. */
  constructor(table: ScimTable, parameters: unknown[]) {
    this.#table = table;
    this.#parameters = parameters;
  }

  compile(filter: Filter): string {
    switch (filter.op) {
      case 'and':
      case 'or':
        return `(${filter.filters.map((each) => this.compile(each)).join(` ${filter.op} `)})`;
      case 'not':
        return `not ${this.compile(filter.filter)}`;
      case 'some':
        return this.#some(filter.path, filter.where);
      case 'pr':
        return this.#compared(filter.path, 'pr', null);
      default:
        return this.#compared(filter.path, filter.op, filter.value);
    }
  }

  #parameter(value: unknown): string {
    this.#parameters.push(value);
    return `$${this.#parameters.length}`;
  }

  #resolved(path: AttributePath): ResolvedPath {
    return resolvePath(this.#table.type, path) ?? refuseFilter('names an unknown attribute');
  }

  #compared(path: AttributePath, op: Comparison | 'pr', value: Value): string {
    const resolved = this.#resolved(path);
    const { attribute } = resolved;
    if (attribute.returned === 'never') return refuseFilter('names an attribute that is not stored');
    if (isPlain(attribute)) return this.#inTexts(resolved, op, value);
    return attribute.multiValued ? this.#inList(resolved, op, value) : this.#single(resolved, op, value);
  }

  #single(resolved: ResolvedPath, op: Comparison | 'pr', value: Value): string {
    const { attribute, sub } = resolved;
    const name = nameOf(resolved);
    const column = this.#columnOf(resolved);
    if (attribute.type === 'complex' && !sub && op !== 'pr')
      return refuseFilter(`has to name a part of ${attribute.name}`);
    if (!column && attribute.mutability === 'readOnly') return refuseFilter(`cannot compare ${name}`);
    if (column?.isUuid && op === 'eq' && typeof value === 'string') return this.#uuid(column.sql, value);
    const sql = column ? columnText(column) : this.#inProfile(resolved);
    return this.#condition(sub ?? attribute, sql, op, value, column?.isFolded === true);
  }

  /** As a UUID, so that the index of the column answers. */
  #uuid(sql: string, value: string): string {
    // Ids are compared by case (RFC 7643 §3.1), and in the form that clients were shown.
    return isUuid(value) && value === value.toLowerCase() ? `(${sql} = ${this.#parameter(value)}::uuid)` : 'false';
  }

  /** Columns hold attributes of the core only. */
  #columnOf(resolved: ResolvedPath): ScimColumn | undefined {
    return resolved.extension === undefined ? this.#table.columns[nameOf(resolved)] : undefined;
  }

  #inProfile({ extension, attribute, sub }: ResolvedPath): string {
    if (this.#table.profile === undefined) return refuseFilter(`cannot compare ${attribute.name}`);
    const steps = [...(extension === undefined ? [] : [extension]), attribute.name, ...(sub ? [sub.name] : [])];
    return `(${this.#table.profile} #>> '{${steps.map((step) => `"${step}"`).join(',')}}')`;
  }

  #elements({ attribute, extension }: ResolvedPath): string {
    const own = extension === undefined ? this.#table.lists[attribute.name] : undefined;
    if (own) return own;
    if (this.#table.profile === undefined || extension !== undefined)
      return refuseFilter(`cannot compare ${attribute.name}`);
    const list = `${this.#table.profile} -> '${attribute.name}'`;
    return `(select v from jsonb_array_elements(case when jsonb_typeof(${list}) = 'array' then ${list} else '[]'::jsonb end) as e(v))`;
  }

  #inTexts(resolved: ResolvedPath, op: Comparison | 'pr', value: Value): string {
    const condition = this.#condition(resolved.attribute, "(e.v #>> '{}')", op, value, false);
    return `exists (select from ${this.#elements(resolved)} as e(v) where ${condition})`;
  }

  /** RFC 7644 §3.4.2.2: a list matches if one of its values does. Without a sub-attribute, `value` is compared. */
  #inList(resolved: ResolvedPath, op: Comparison | 'pr', value: Value): string {
    const { attribute } = resolved;
    const elements = this.#elements(resolved);
    if (op === 'pr' && !resolved.sub) return `exists (select from ${elements} as e(v))`;
    const compared = partOf(resolved);
    if (!compared) return refuseFilter(`has to name a part of ${attribute.name}`);
    const text = compared.name === 'value' && op === 'eq' && typeof value === 'string' ? value : undefined;
    const index = text === undefined ? undefined : this.#table.indexed?.[attribute.name];
    if (index) return index(text!, (each) => this.#parameter(each));
    return `exists (select from ${elements} as e(v) where ${this.#part(compared, op, value)})`;
  }

  #some(path: AttributePath, where: Filter): string {
    const resolved = this.#resolved(path);
    const { attribute, sub } = resolved;
    if (!attribute.multiValued || sub) return refuseFilter(`cannot choose among values of ${attribute.name}`);
    const elements = this.#elements(resolved);
    return `exists (select from ${elements} as e(v) where ${this.#parts(attribute, where)})`;
  }

  /** A condition on one value of a list. */
  #parts(attribute: ScimAttribute, filter: Filter): string {
    switch (filter.op) {
      case 'and':
      case 'or':
        return `(${filter.filters.map((each) => this.#parts(attribute, each)).join(` ${filter.op} `)})`;
      case 'not':
        return `not ${this.#parts(attribute, filter.filter)}`;
      case 'some':
        return refuseFilter('has a filter within a filter');
      default: {
        const { urn, attribute: name, sub } = filter.path;
        const part =
          urn === undefined && sub === undefined ? attributeNamed(attribute.subAttributes ?? [], name) : undefined;
        if (!part) return refuseFilter('names an unknown attribute');
        return this.#part(part, filter.op, filter.op === 'pr' ? null : filter.value);
      }
    }
  }

  #part(part: ScimAttribute, op: Comparison | 'pr', value: Value): string {
    return this.#condition(part, `(e.v ->> '${part.name}')`, op, value, false);
  }

  #condition(attribute: ScimAttribute, sql: string, op: Comparison | 'pr', value: Value, isFolded: boolean): string {
    // §3.4.2.2: a text without characters is no value.
    if (op === 'pr') return `coalesce((${sql})::text <> '', false)`;
    if (value === null) {
      if (op !== 'eq' && op !== 'ne') return refuseFilter('can compare null with eq and ne only');
      return `(${sql} is ${op === 'eq' ? '' : 'not '}null)`;
    }
    if (attribute.type === 'boolean') return this.#boolean(sql, op, value);
    if (attribute.type === 'dateTime') return this.#time(sql, op, value);
    if (typeof value === 'boolean') return refuseFilter(`compares ${attribute.name} with another type`);
    if (attribute.type === 'binary' && ORDERING.has(op)) return refuseFilter(`cannot order ${attribute.name}`);
    return this.#text(attribute, sql, op, String(value), isFolded);
  }

  #boolean(sql: string, op: Comparison, value: Value): string {
    const text = String(value).toLowerCase();
    if ((text !== 'true' && text !== 'false') || (op !== 'eq' && op !== 'ne'))
      return refuseFilter('can compare a boolean with true or false, by eq and ne only');
    return `coalesce((${sql})::boolean ${op === 'eq' ? '=' : '<>'} ${this.#parameter(text === 'true')}::boolean, ${op === 'ne'})`;
  }

  #time(sql: string, op: Comparison, value: Value): string {
    const sign = SIGNS[op];
    const { success, data } = dateTime.safeParse(value);
    if (!sign || !success) return refuseFilter('can compare a time with a date and time, by order only');
    const instant = new Date(data).toISOString();
    if (!isStorable(instant)) return refuseFilter('can compare a time within the years 1 to 9999');
    const at = this.#parameter(instant);
    // Rows are exact to the millisecond, like the times that a client was shown.
    return `coalesce(date_trunc('milliseconds', ${sql}) ${sign} ${at}::timestamptz, false)`;
  }

  #text({ caseExact }: ScimAttribute, sql: string, op: Comparison, value: string, isFolded: boolean): string {
    const given = this.#parameter(isFolded ? folded(value) : value);
    const [left, right] = caseExact || isFolded ? [sql, `${given}::text`] : [`lower(${sql})`, `lower(${given}::text)`];
    switch (op) {
      case 'eq':
        // Not `coalesce`, which no index answers. Without a value it is false too, so `not` is true.
        return `(${sql} is not null and ${left} = ${right})`;
      case 'ne':
        return `(${left} is distinct from ${right})`;
      case 'co':
        return `coalesce(strpos(${left}, ${right}) > 0, false)`;
      case 'sw':
        return `coalesce(starts_with(${left}, ${right}), false)`;
      case 'ew':
        return `coalesce(right(${left}, length(${right})) = ${right}, false)`;
      default:
        return `coalesce(${left} collate "C" ${SIGNS[op]} ${right}, false)`;
    }
  }

  /** An expression to order rows by. Of a list, the primary value or else the first. */
  orderOf(path: AttributePath): string {
    const resolved = resolvePath(this.#table.type, path) ?? refuseSort();
    const { attribute, sub } = resolved;
    if (attribute.returned === 'never') return refuseSort();
    const column = this.#columnOf(resolved);
    if (attribute.type === 'complex' && !attribute.multiValued && !sub) return refuseSort();
    if (column) return orderByColumn(column, sub ?? attribute);
    if (attribute.mutability === 'readOnly' || this.#table.profile === undefined) return refuseSort();
    if (attribute.multiValued) return this.#orderByList(resolved);
    return `lower(${this.#inProfile(resolved)})`;
  }

  #orderByList(resolved: ResolvedPath): string {
    const part = partOf(resolved) ?? refuseSort();
    const elements = this.#elements(resolved);
    return `(select lower(e.v ->> '${part.name}') from ${elements} as e(v) order by (e.v ->> 'primary') = 'true' desc nulls last limit 1)`;
  }
}

const nameOf = ({ attribute, sub }: ResolvedPath): string => (sub ? `${attribute.name}.${sub.name}` : attribute.name);

/** The part of a list's values that is compared: the named one, or else `value`. */
const partOf = ({ attribute, sub }: ResolvedPath): ScimAttribute | undefined =>
  sub ?? attributeNamed(attribute.subAttributes ?? [], 'value');

const orderByColumn = ({ sql, isFolded }: ScimColumn, { type, caseExact }: ScimAttribute): string =>
  isFolded || type !== 'string' || caseExact ? sql : `lower(${sql})`;

const refuseSort = (): never => {
  throw new FailureError(invalid('sortBy', 'names no attribute that can be sorted by', 'scim_invalid_value'));
};

/** A list of texts, such as `schemas`: its values have no parts. */
const isPlain = ({ type, multiValued }: ScimAttribute): boolean => multiValued && type !== 'complex';

/** `xsd:dateTime` (RFC 7643 §2.3.5) of a day that exists, or a day alone. */
const dateTime = z.union([z.iso.datetime({ offset: true, local: true }), z.iso.date()]);

/** RFC 7644 §3.4.2.2: refused for booleans and binary values. */
const ORDERING: ReadonlySet<Comparison> = new Set(['gt', 'ge', 'lt', 'le']);

const SIGNS: Partial<Record<Comparison, string>> = { eq: '=', ne: '<>', gt: '>', ge: '>=', lt: '<', le: '<=' };
