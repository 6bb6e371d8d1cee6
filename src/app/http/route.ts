import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { Actor } from '../../platform/kernel/actor.ts';
import type { BulkCommand, Command } from '../../platform/kernel/command.ts';
import type { Failure, FieldError } from '../../platform/kernel/failure.ts';
import type { DomainEvent, Position, RecordedEvent } from '../../platform/kernel/event.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { Query } from '../../platform/kernel/query.ts';
import type { ReadModelName } from '../../platform/kernel/read-model-name.ts';
import type { ExecutionResult } from '../../platform/execution/execution-result.ts';
import type { FreshValues } from '../../platform/execution/fresh-values.ts';
import type { CommandPorts } from '../../../commands/ports.ts';
import type { ErrorCode } from '../../platform/kernel/error-codes.ts';
import type { Access } from './access.ts';
import type { DescribedHeader } from './openapi/header-words.ts';
import type { RequestHeaderNeeds } from './openapi/request-header-words.ts';
import type { Refusal } from './refusal.ts';
import type { AdminPrincipal, DevicePrincipal, OrgPrincipal, Principal, ScimPrincipal } from './principal.ts';
import type { ResponseHead } from './response-head.ts';

/** The principal that an access profile guarantees. */
export type PrincipalOf<A extends Access> = A extends { kind: 'admin' }
  ? AdminPrincipal
  : A extends { kind: 'org' }
    ? OrgPrincipal
    : A extends { kind: 'device' }
      ? DevicePrincipal
      : A extends { kind: 'scim' }
        ? ScimPrincipal
        : undefined;

/** For open routes: the tenant and actor, once the handler knows them. */
export interface CallerContext {
  readonly tenantId: TenantId;
  readonly actor: Actor;
}

/**
 * The context of a handler: the validated input, functions to run commands and queries, and the dependencies that its
 * module declares with `routeWith`. A module that declares none gets none.
 */
export interface HandlerContext<Params, QueryString, Body, P = Principal | undefined, Dependencies = unknown> {
  readonly params: Params;
  readonly query: QueryString;
  readonly body: Body;
  readonly principal: P;
  readonly services: Dependencies;
  readonly request: FastifyRequest;
  readonly reply: ResponseHead;
  /**
   * Executes a command for the caller's tenant (or a given tenant or caller), then waits for the read models it
   * freshens.
   */
  run<Input, State, E extends DomainEvent, Facts, Result>(
    command: Command<Input, State, E, CommandPorts, Facts, Result>,
    input: Input,
    named?: TenantId | CallerContext,
    /** Distinguishes commands of the same name, in a route that runs several in no fixed order. */
    as?: string,
  ): Promise<ExecutionResult<Result>>;
  /**
   * Throws the failures that these commands would have now, and appends nothing. A route that runs a command for each
   * item checks all of them first: a refused call changes nothing.
   */
  checkAll<Input, State, E extends DomainEvent, Facts, Result>(
    command: Command<Input, State, E, CommandPorts, Facts, Result>,
    inputs: readonly Input[],
  ): Promise<void>;
  /**
   * Like `run`, without waiting for read models: for a route that runs many commands, then waits once with `waitFor`.
   */
  execute<Input, State, E extends DomainEvent, Facts, Result>(
    command: Command<Input, State, E, CommandPorts, Facts, Result>,
    input: Input,
    named?: TenantId | CallerContext,
    as?: string,
  ): Promise<ExecutionResult<Result>>;
  /**
   * Executes a command for many inputs together, and returns their outcomes in order; a failure is not thrown. `as` names
   * each run within the request.
   */
  executeAll<Input, State, E extends DomainEvent, Facts, Result>(
    command: BulkCommand<Input, State, E, CommandPorts, Facts, Result>,
    inputs: readonly Input[],
    as: (input: Input) => string,
  ): Promise<readonly (ExecutionResult<Result> | Failure)[]>;
  /** Waits until these read models have reached a position. On time-out, sets `X-Stale: true` on the response. */
  waitFor(models: readonly ReadModelName[], position: Position): Promise<void>;
  /**
   * The result of the command in an earlier attempt at this request whose response was lost (`Idempotency-Key`). For
   * handlers whose own checks would refuse the second attempt. Undefined: run the command.
   */
  recall<Input, State, E extends DomainEvent, Facts, Result>(
    command: Command<Input, State, E, CommandPorts, Facts, Result>,
    input: Input,
  ): Promise<ExecutionResult<Result> | undefined>;
  /**
   * New ids and secrets, the same in every attempt with one `Idempotency-Key`. Never use `randomUUID` in a POST
   * handler.
   */
  readonly fresh: FreshValues;
  /** The file of a multipart body (`file` of the route). */
  file(): Promise<Buffer>;
  /**
   * The view of the record that a command has just created: by the query, or, while the read side is behind, from the
   * command's events. What is shown once and new ids are therefore in the response however late the read side is.
   */
  created<Input, View>(
    executed: Pick<ExecutionResult<unknown>, 'recorded'>,
    query: Query<Input, View>,
    input: Input,
    fromEvents: (events: readonly RecordedEvent[]) => View | undefined | Promise<View | undefined>,
    tenantId?: TenantId,
  ): Promise<View>;
  /** Runs a query for the caller's tenant (or a given one). */
  ask<Input, Answer>(query: Query<Input, Answer>, input: Input, tenantId?: TenantId): Promise<Answer>;
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH';
type Output<S> = S extends z.ZodType ? z.output<S> : undefined;

/** A declarative route: registration, access control, API description and tests derive from it. */
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
  /** For the API description: one short phrase that begins with a verb. */
  readonly summary: string;
  /** The operation's name for generated clients, where the one that follows from summary and path reads badly. */
  readonly operation?: string;
  /** For the API description: units, limits, errors and side effects, in sentences. */
  readonly description?: string;
  /** Checked before the request's input. Throws `FailureError`. */
  readonly precondition?: (services: Dependencies) => Promise<void>;
  readonly params?: Params;
  readonly query?: QueryString;
  readonly body?: Body;
  /**
   * What is wrong with the body by the configuration of the installation. It is named beside what the schema refuses, so
   * `body` may be as the client sent it.
   */
  readonly judge?: (body: unknown, services: Dependencies) => readonly FieldError[];
  /**
   * What the command would refuse of the body by its values alone: a text that only the command reads (a certificate), a rule
   * about the present time. Asked only if something else is wrong with the request, so that all is named at once. A body that
   * is otherwise right is refused by the command, after a retry has got the response of the first attempt.
   */
  readonly foresee?: (body: unknown, services: Dependencies) => readonly FieldError[];
  /** For the API description: what the body should be, where `body` lets items pass that the handler judges. */
  readonly bodyView?: z.ZodType;
  /** `json` by default. */
  readonly consumes?: 'json' | 'multipart' | 'form' | 'json-or-form';
  /** The part of a multipart body that holds the file. */
  readonly file?: { readonly part: string; readonly mostBytes: number };
  readonly status?: number;
  /**
   * The handler reads a file too large for memory, so the request cannot be compared with an earlier one: an
   * `Idempotency-Key` is ignored.
   */
  readonly streamsFile?: true;
  /**
   * Checks a credential and issues a token for it. Every call is an attempt of its own: an `Idempotency-Key` is
   * ignored, because a replayed response would hand out an old token, and wrong credentials would not be counted.
   */
  readonly issuesProof?: true;
  /** Makes one change after another, for each item of the body, so its event store calls share a longer deadline. */
  readonly isBulk?: true;
  /** The schema of a JSON response, or its media type. Undefined: no body. */
  readonly response?: z.ZodType | { readonly media: string; readonly schema?: z.ZodType };
  /**
   * The part of a response that identifies the state: its `ETag`. Commands of the route with `shown` are refused (412)
   * if `If-Match` names another state.
   */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly tagged?: (shown: any) => unknown;
  /** For the API description: codes of its refusals that do not follow from the rest of the declaration. */
  readonly refuses?: readonly ErrorCode[];
  /** For the API description: request headers that the handler reads, besides those that follow from the rest. */
  readonly takes?: RequestHeaderNeeds;
  /** For the API description: headers of a success that do not follow from the rest of the declaration. */
  readonly sends?: readonly DescribedHeader[];
  /** For the API description: the media types in which the caller can ask for the same success, besides `response`, with their schemas. */
  readonly otherMedia?: Readonly<Record<string, z.ZodType | 'file'>>;
  /** For the API description: bodies of other responses that the handler sends itself, by status. */
  readonly otherwise?: Readonly<Record<number, z.ZodType>>;
  /** Browsers are sent here, so a browser that navigates gets a page instead of an error's JSON: about a sign-in or not. */
  readonly facesBrowsers?: true | 'sign-out';
  /** The body of error responses, if the protocol defines one; `ErrorBody` by default. */
  readonly refusal?: (refused: Refusal) => object;
  /** The schema of what `refusal` returns. */
  readonly refusalView?: z.ZodType;
  /** The handler itself judges texts with NUL or lone surrogates, which elsewhere fail the whole body. */
  readonly judgesText?: true;
  /** The largest body, in bytes, where the usual limit of the media type does not fit. */
  readonly mostBytes?: number;
  /** The most parts of a JSON body, where the usual number does not fit (`json-shape.ts`). */
  readonly mostParts?: number;
  readonly handle: (
    call: HandlerContext<Output<Params>, Output<QueryString>, Output<Body>, PrincipalOf<A>, Dependencies>,
  ) => Promise<unknown>;
}

/** A route whose types were checked at its declaration. Its dependencies are provided at registration. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type AnyRoute<Dependencies = unknown> = Route<any, any, any, any, Dependencies>;

/** Declares routes whose handlers may use only these dependencies of the application. */
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

/** Declares a route whose handler needs only commands and queries. */
export const route = routeWith<unknown>();

/** The routes of an area, with the tag of its OpenAPI section. */
export interface RouteGroup<Dependencies = unknown> {
  readonly area: string;
  readonly routes: readonly AnyRoute<Dependencies>[];
}

/** The combined dependencies of the handlers of these groups. */
export type DependenciesOf<Groups extends readonly RouteGroup<never>[]> =
  Groups[number] extends RouteGroup<infer Dependencies> ? Dependencies : never;
