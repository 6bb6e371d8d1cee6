const CODES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EMFILE', 'ENFILE']);

/** The file system cannot be written to at present: full, read-only, damaged, or out of file descriptors. */
export const isStorageFull = (error: unknown): boolean => CODES.has((error as { code?: unknown } | undefined)?.code);

/** The path that a start failed to write to: on a full or read-only disk, or in a directory of another user. */
export function unwritablePath(error: unknown): string | undefined {
  const { code, path, syscall } = (error ?? {}) as { code?: unknown; path?: unknown; syscall?: unknown };
  const isWrite =
    syscall === 'mkdir' || syscall === 'open' || syscall === 'write' || syscall === 'rename' || syscall === 'mkdtemp';
  return isWrite && (isStorageFull(error) || code === 'EACCES' || code === 'EPERM') && typeof path === 'string'
    ? path
    : undefined;
}
