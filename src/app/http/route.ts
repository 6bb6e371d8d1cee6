import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { Actor } from '../../platform/kernel/actor.ts';
import type { Command } from '../../platform/kernel/command.ts';
import type { DomainEvent, Position } from '../../platform/kernel/event.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { Query } from '../../platform/kernel/query.ts';
import type { ReadModelName } from '../../platform/kernel/read-model-name.ts';
import type { ExecutionResult } from '../../platform/execution/executor.ts';
import type { FreshValues } from '../../platform/execution/fresh-values.ts';
import type { CommandPorts } from '../../../commands/ports.ts';
import type { Access } from './access.ts';
import type { AdminPrincipal, DevicePrincipal, OrgPrincipal, Principal } from './principal.ts';

/** The principal that an access profile guarantees. */
export type PrincipalOf<A extends Access> = A extends { kind: 'admin' }
  ? AdminPrincipal
  : A extends { kind: 'org' }
    ? OrgPrincipal
    : A extends { kind: 'device' }
      ? DevicePrincipal
      : undefined;

/** For whom an open route acts, once its handler has found out. */
export interface CallerContext {
  readonly tenantId: TenantId;
  readonly actor: Actor;
}

/**
 * What a handler works with: the checked input, ways to run commands and queries, and the dependencies that its module declares
 * (`routeWith`). A module that declares none gets none.
 */
export interface HandlerContext<Params, QueryString, Body, P = Principal | undefined, Dependencies = unknown> {
  readonly params: Params;
  readonly query: QueryString;
  readonly body: Body;
  readonly principal: P;
  readonly services: Dependencies;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Executes a command for the caller's tenant (or a named one, or on named behalf) and waits for the read models that it freshens. */
  run<Input, State, E extends DomainEvent, Facts, Result>(
    command: Command<Input, State, E, CommandPorts, Facts, Result>,
    input: Input,
    named?: TenantId | CallerContext,
    /** Names this command among those of the same name, for a route that runs several in no fixed order. */
    as?: string,
  ): Promise<ExecutionResult<Result>>;
  /** As `run`, without waiting for read models: for a route that runs many commands and waits once, with `waitFor`. */
  execute<Input, State, E extends DomainEvent, Facts, Result>(
    command: Command<Input, State, E, CommandPorts, Facts, Result>,
    input: Input,
    named?: TenantId | CallerContext,
    as?: string,
  ): Promise<ExecutionResult<Result>>;
  /** Waits until these read models have passed a position; where that takes too long, the response says so. */
  waitFor(models: readonly ReadModelName[], position: Position): Promise<void>;
  /**
   * What the command came to in an earlier attempt at this request, whose response was lost (`Idempotency-Key`). For handlers that
   * would refuse, before they run it, what it has already done. Undefined: run it.
   */
  recall<Input, State, E extends DomainEvent, Facts, Result>(
    command: Command<Input, State, E, CommandPorts, Facts, Result>,
    input: Input,
  ): Promise<ExecutionResult<Result> | undefined>;
  /** Ids and secrets to be created: with an `Idempotency-Key` the same in every attempt. Never `randomUUID` in a POST handler. */
  readonly fresh: FreshValues;
  /** The file of a multipart body (`file` of the route). */
  file(): Promise<Buffer>;
  /** Asks a query as the caller's tenant (or a named one). */
  ask<Input, Answer>(query: Query<Input, Answer>, input: Input, tenantId?: TenantId): Promise<Answer>;
}

/** Why a request was not served. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH';
type Output<S> = S extends z.ZodType ? z.output<S> : undefined;

/** A route as data: enough to register, to guard, to document and to test it. */
export interface Route<
  A extends Access = Access,
  Params extends z.ZodType | undefined = z.ZodType | undefined,
  QueryString extends z.ZodType | undefined = z.ZodType | undefined,
  Body extends z.ZodType | undefined = z.ZodType | undefined,
  Dependencies = unknown,
> {
  readonly method: Method;
  readonly path: string;
  readonly access: A;
  readonly summary: string;
  /** What must hold before anything that was sent is looked at. Throws. */
  readonly precondition?: (services: Dependencies) => Promise<void>;
  readonly params?: Params;
  readonly query?: QueryString;
  readonly body?: Body;
  /** `json` unless named; a multipart or form body is parsed for the handler. */
  readonly consumes?: 'json' | 'multipart' | 'form' | 'json-or-form';
  /** The part of a multipart body that holds the file. */
  readonly file?: { readonly part: string; readonly mostBytes: number };
  readonly status?: number;
  /** Makes one change after another, as many as the body lists: its calls to the event store share a longer deadline. */
  readonly isBulk?: true;
  /** The answer's schema, or its media type where it is not JSON. Undefined: no body. */
  readonly response?: z.ZodType | { readonly media: string };
  /** The body of a refusal, where a protocol has a shape of its own; otherwise `{ error }`. */
  readonly refusal?: (refused: Refusal) => object;
  readonly handle: (
    call: HandlerContext<Output<Params>, Output<QueryString>, Output<Body>, PrincipalOf<A>, Dependencies>,
  ) => Promise<unknown>;
}

/** A route whose types have been checked where it was declared. Whoever registers it provides its dependencies. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type AnyRoute<Dependencies = unknown> = Route<any, any, any, any, Dependencies>;

/** Declares routes whose handlers use these dependencies of the application and no others. */
export const routeWith =
  <Dependencies>() =>
  <
    const A extends Access,
    Params extends z.ZodType | undefined = undefined,
    QueryString extends z.ZodType | undefined = undefined,
    Body extends z.ZodType | undefined = undefined,
  >(
    declared: Route<A, Params, QueryString, Body, Dependencies>,
  ): AnyRoute<Dependencies> =>
    declared;

/** Declares a route whose handler needs nothing but commands and queries. */
export const route = routeWith<unknown>();

/** A bounded context's routes: the tag of its OpenAPI section and what it serves. */
export interface RouteGroup<Dependencies = unknown> {
  readonly area: string;
  readonly routes: readonly AnyRoute<Dependencies>[];
}

/** What the handlers of these groups need together. */
export type DependenciesOf<Groups extends readonly RouteGroup<never>[]> =
  Groups[number] extends RouteGroup<infer Dependencies> ? Dependencies : never;
