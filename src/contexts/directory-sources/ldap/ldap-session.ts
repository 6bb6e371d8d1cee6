import {
  Client,
  InvalidCredentialsError,
  PagedResultsControl,
  ResultCodeError,
  SearchRequest,
  type Filter,
  type SearchResponse,
} from 'ldapts';
import { DirectoryFailed, DirectoryForbids } from '../domain/directory-reader.ts';
import type { FramedSocket } from './framed-socket.ts';

/** An entry with its values as bytes: some of them are no text. */
export interface LdapEntry {
  readonly dn: string;
  /** Names of its attributes, in lower case. */
  readonly names: readonly string[];
  values(attribute: string): readonly Buffer[];
}

export interface LdapSearch {
  readonly base: string;
  readonly filter: Filter;
  readonly scope?: 'base' | 'sub';
  readonly attributes: readonly string[];
}

/** Entries in one page. Active Directory allows 1,000. */
const PAGE_SIZE = 500;
const PAGE_BYTES = 64 * 1024 * 1024;
const REQUEST_MS = 30_000;
/** Active Directory sends some when it looks at many entries that do not match. More of them lead nowhere. */
const MAX_EMPTY_PAGES = 100;
/** Referrals and the end of the page, besides its entries. */
const SPARE_MESSAGES = 100;
const SUCCESS = 0;
const NO_SUCH_OBJECT = 32;
const INSUFFICIENT_ACCESS = 50;

/** The members of ldapts that its types hide. `package.json` pins the version because of them. */
interface InnerClient {
  _send(request: SearchRequest): Promise<SearchResponse>;
  _nextMessageId(): number;
}

/** One authenticated connection. It never reconnects: a new one would not be authenticated, and would show less. */
export class LdapSession {
  readonly #socket: FramedSocket;
  readonly #client: Client;

  constructor(socket: FramedSocket) {
    this.#socket = socket;
    let isUsed = false;
    this.#client = new Client({
      url: 'ldap://directory',
      timeout: REQUEST_MS,
      connectTimeout: REQUEST_MS,
      createConnection: (() => {
        if (isUsed) throw new DirectoryFailed('the connection to the directory was lost');
        isUsed = true;
        return socket;
      }) as never,
    });
  }

  /** A name without a password would be an anonymous bind that succeeds (RFC 4513 §5.1.2). */
  async bind(dn: string, password: string): Promise<void> {
    if (password === '') throw new DirectoryFailed('the directory needs a password', { isLasting: true });
    await this.#translated(() => this.#client.bind(dn, password));
  }

  /**
   * Yields pages of entries, in the order of the server. Returns only at the end that the server itself announced.
   * Paging of ldapts (8.2.0) is not used: it takes an empty page for the end, even if more follow.
   */
  async *search({ base, filter, scope = 'sub', attributes }: LdapSearch): AsyncGenerator<readonly LdapEntry[]> {
    const control = new PagedResultsControl({ critical: true, value: { size: PAGE_SIZE } });
    const inner = this.#client as unknown as InnerClient;
    for (let emptyPages = 0; emptyPages <= MAX_EMPTY_PAGES;) {
      this.#socket.expect({ messages: PAGE_SIZE + SPARE_MESSAGES, bytes: PAGE_BYTES });
      const response = await this.#translated(() =>
        inner._send(
          new SearchRequest({
            messageId: inner._nextMessageId(),
            baseDN: base,
            scope,
            filter,
            attributes: [...attributes],
            timeLimit: REQUEST_MS / 1_000,
            controls: [control],
          } as ConstructorParameters<typeof SearchRequest>[0]),
        ),
      );
      if (response.status !== SUCCESS) throw refusedSearch(response.status);
      if (response.searchEntries.length > PAGE_SIZE)
        throw new DirectoryFailed('the directory sent more than was asked for');
      const cookie = cookieOf(response);
      yield response.searchEntries.map(entryOf);
      if (cookie.length === 0) return;
      control.value = { size: PAGE_SIZE, cookie };
      emptyPages = response.searchEntries.length === 0 ? emptyPages + 1 : 0;
    }
    throw new DirectoryFailed('the directory sends empty pages without end');
  }

  close(): void {
    this.#socket.destroy();
  }

  async #translated<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof DirectoryFailed) throw error;
      if (this.#socket.failure) throw this.#socket.failure;
      if (error instanceof InvalidCredentialsError)
        throw new DirectoryFailed('the directory refuses the credentials', { isLasting: true, cause: error });
      if (error instanceof ResultCodeError) throw refusedSearch(error.code, error);
      if (error instanceof Error && error.message.includes('timed out'))
        throw new DirectoryFailed('the directory took too long', { cause: error });
      throw new DirectoryFailed('the directory sent a malformed message', { cause: error });
    }
  }
}

/** RFC 2696 §3: the response to a request with the control has the control, too. Without it, nothing is known of the end. */
function cookieOf({ controls = [] }: SearchResponse): Buffer {
  const paged = controls.find((one) => one instanceof PagedResultsControl);
  if (!paged) throw new DirectoryFailed('the directory does not list in pages');
  return paged.value?.cookie ?? Buffer.alloc(0);
}

const entryOf = ({ name, attributes }: SearchResponse['searchEntries'][number]): LdapEntry => {
  const byName = new Map(attributes.map((one) => [one.type.toLowerCase(), one.parsedBuffers]));
  return { dn: name, names: [...byName.keys()], values: (attribute) => byName.get(attribute.toLowerCase()) ?? [] };
};

function refusedSearch(code: number, cause?: unknown): DirectoryFailed {
  if (code === NO_SUCH_OBJECT) return new DirectoryFailed('the base DN does not exist', { cause });
  const reason = `the directory refuses the search (LDAP result ${code})`;
  return code === INSUFFICIENT_ACCESS ? new DirectoryForbids(reason, cause) : new DirectoryFailed(reason, { cause });
}
