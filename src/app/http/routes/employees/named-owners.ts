import { sourceNames } from '../../../../../queries/employees/source-names.ts';
import { FailureError } from '../../../../platform/kernel/failure.ts';
import type { HandlerContext } from '../../route.ts';

type Ask = HandlerContext<unknown, unknown, unknown>['ask'];

/** The end of what `nameOfSource` says: the id of a source. */
const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Names the sources that own fields as administrators know them, where a change of such a field is refused. */
export async function namingOwners<Result>(change: Promise<Result>, ask: Ask): Promise<Result> {
  try {
    return await change;
  } catch (error) {
    if (!(error instanceof FailureError) || error.failure.code !== 'owned_by_source') throw error;
    const { failure } = error;
    const texts = [failure.message, ...(failure.fields ?? []).map(({ message }) => message)];
    const names = await ask(sourceNames, { sourceIds: texts.flatMap((text) => ID.exec(text)?.[0] ?? []) });
    const named = (text: string) => text.replace(ID, (id) => (names.has(id) ? `“${names.get(id)}” (${id})` : id));
    throw new FailureError({
      ...failure,
      message: named(failure.message),
      fields: (failure.fields ?? []).map((field) => ({ ...field, message: named(field.message) })),
    });
  }
}
