import { numberFormat } from '../../shared/money.ts';
import { usePageState, useWords } from '../words.ts';

export interface Bar {
  readonly key: string;
  readonly label: string;
  /** The height of the bar, in any unit. It is not shown as text. */
  readonly size: number;
  readonly text: string;
}

interface BarChartProps {
  readonly title: string;
  readonly bars: readonly Bar[];
  readonly columns: readonly [string, string];
}

const GAP = 0.24;

/** One bar for each day, and a table with the same numbers. */
export function BarChart({ title, bars, columns: [keys, values] }: BarChartProps) {
  const words = useWords();
  const most = Math.max(...bars.map(({ size }) => size), Number.MIN_VALUE);
  return (
    <>
      <svg
        className="bars"
        viewBox={`0 0 ${bars.length} 100`}
        preserveAspectRatio="none"
        role="img"
        aria-label={title}
        focusable="false"
      >
        {bars.map(({ key, size, label, text }, index) => {
          const height = size === 0 ? 0 : Math.max((size / most) * 100, 1.5);
          return (
            <g key={key}>
              <title>{`${label}: ${text}`}</title>
              <rect className="bar-back" x={index} y={0} width={1} height={100} />
              <rect className="bar" x={index + GAP / 2} y={100 - height} width={1 - GAP} height={height} />
            </g>
          );
        })}
      </svg>
      <div className="bar-ends soft small" aria-hidden="true">
        <span>{bars.at(0)?.label}</span>
        <span>{bars.at(-1)?.label}</span>
      </div>
      <details className="as-table">
        <summary className="soft small">{words.asTable}</summary>
        <div className="scroll">
          <table className="plain">
            <thead>
              <tr>
                <th scope="col">{keys}</th>
                <th scope="col">{values}</th>
              </tr>
            </thead>
            <tbody>
              {bars.map(({ key, label, text }) => (
                <tr key={key}>
                  <th scope="row">{label}</th>
                  <td>{text}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </>
  );
}

export interface Share {
  readonly key: string;
  readonly name: string;
  readonly note?: string;
  readonly count: number;
  /** A share of the whole, between 0 and 1. */
  readonly share: number;
}

/** A list of names, each with a count, a percentage and a bar. */
export function Shares({ shares }: { readonly shares: readonly Share[] }) {
  const { locale } = usePageState();
  const number = numberFormat(locale, {});
  const percent = numberFormat(locale, { style: 'percent', maximumFractionDigits: 0 });
  return (
    <ul className="shares">
      {shares.map(({ key, name, note, count, share }) => (
        <li key={key}>
          <span className="share-name">
            {name}
            {note !== undefined && <span className="soft small">{note}</span>}
          </span>
          <span className="share-count">
            {number.format(count)} <span className="soft small">{percent.format(share)}</span>
          </span>
          <svg
            className="share-bar"
            viewBox="0 0 100 4"
            preserveAspectRatio="none"
            aria-hidden="true"
            focusable="false"
          >
            <rect className="bar-back" width={100} height={4} />
            <rect className="bar" width={Math.min(share, 1) * 100} height={4} />
          </svg>
        </li>
      ))}
    </ul>
  );
}
