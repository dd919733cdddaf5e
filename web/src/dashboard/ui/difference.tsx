import { ApiProblem } from '../api.ts';
import { useWords } from '../words.ts';

export interface Row {
  readonly label: string;
  readonly from: string;
  readonly to: string;
}

/** The values that somebody else has saved since the form was opened, beside the values that the form began with. */
export function Difference({ rows }: { readonly rows: readonly Row[] }) {
  const words = useWords();
  return (
    <div className="difference" role="alert">
      <p>{words.changedMeanwhile}</p>
      <dl className="facts">
        {rows
          .filter(({ from, to }) => from !== to)
          .map(({ label, from, to }) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>
                <del>{from}</del> <ins>{to}</ins>
              </dd>
            </div>
          ))}
      </dl>
    </div>
  );
}

/** The present values from the error, if somebody else has changed the object since. Any other error is thrown again. */
export function currentIn<T>(error: unknown): T {
  const current = error instanceof ApiProblem && error.status === 409 ? error.details.current : undefined;
  if (current === undefined) throw error;
  return current as T;
}
