import { useQuery } from '@tanstack/react-query';
import { clamp, fill } from '../../shared/text.ts';
import { call } from '../api.ts';
import type { Examination, ExaminationFinding, ExaminationSection } from '../api-types.ts';
import type { Strings } from '../strings/en.ts';
import { ListState } from '../ui/list-state.tsx';
import { Notice, PageHead, Time, useTitle } from '../ui/parts.tsx';
import { problemText } from '../ui/problem-text.ts';
import { Tabs } from '../ui/tabs.tsx';
import { useWords } from '../words.ts';

type Level = Examination['level'];

const BADGES = {
  well: 'badge-succeeded',
  remark: 'badge-refund',
  unknown: 'badge-expired',
  warning: 'badge-processing',
  fault: 'badge-failed',
} as const satisfies Record<Level, string>;

const WORST_FIRST: readonly Level[] = ['fault', 'warning', 'unknown', 'remark'];

/** The page with the results of all checks of `till doctor`, made by the node that answers. */
export function ExaminationPage() {
  const words = useWords();
  useTitle(words.examination);
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['operator', 'examination'],
    queryFn: ({ signal }) => call<Examination>('GET', '/v1/operator/examination', { signal }),
    // An examination sends requests to other machines, so it runs only when a person asks for it.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });
  return (
    <>
      <PageHead title={words.operator}>
        <button type="button" className="quiet" disabled={isFetching} onClick={() => void refetch()}>
          {words.examineAgain}
        </button>
      </PageHead>
      <Tabs of="operator" />
      {data === undefined ? (
        <ListState error={error} />
      ) : (
        <>
          {error !== null && <Notice kind="bad">{problemText(words, error)}</Notice>}
          <Verdict examination={data} />
          <div className="examined">
            {data.sections.map((section) => (
              <SectionCard key={section.check} section={section} />
            ))}
          </div>
        </>
      )}
    </>
  );
}

/** The worst level of all findings, and the findings, the most severe first. */
function Verdict({ examination: { at, level, sections } }: { readonly examination: Examination }) {
  const words = useWords();
  const findings = sections.flatMap(({ check, title, findings: own }) =>
    own.map((finding) => ({ ...finding, title: checkText(words, check, title) })),
  );
  const sorted = WORST_FIRST.flatMap((worth) => findings.filter((finding) => finding.level === worth));
  return (
    <section aria-labelledby="verdict" className="card">
      <h2 id="verdict">{words[`verdict ${level}`]}</h2>
      <p className="soft small examined-verdict">
        {words.examinedAt} <Time at={at} isExact /> · <code dir="ltr">npm run till -- doctor</code>
      </p>
      {sorted.length > 0 && (
        <ul className="plain-list">
          {sorted.map(({ title, ...finding }) => (
            <FindingRow key={`${title} ${finding.message}`} title={title} finding={finding} />
          ))}
        </ul>
      )}
    </section>
  );
}

function FindingRow({ title, finding }: { readonly title: string; readonly finding: ExaminationFinding }) {
  const { level, message, remedy } = finding;
  return (
    <li>
      <span className="person-names">
        <span className="strong">{title}</span>
        <bdi lang="en">{clamp(message, 400)}</bdi>
        <bdi lang="en" className="soft small">
          {clamp(remedy, 400)}
        </bdi>
      </span>
      <LevelBadge level={level} />
    </li>
  );
}

function SectionCard({ section: { check, title, level, facts } }: { readonly section: ExaminationSection }) {
  const words = useWords();
  const name = checkText(words, check, title);
  if (facts.length === 0 && level === 'well') return <Short name={name} level={level} text={words.nothingFound} />;
  if (facts.length === 0) return <Short name={name} level={level} text={words.seeAbove} />;
  return (
    <details className="card">
      <summary>
        <h3>{name}</h3>
        <span className="soft small">{fill(words.factCount, { count: String(facts.length) })}</span>
        <LevelBadge level={level} />
      </summary>
      <dl className="examined-facts" lang="en">
        {facts.map(({ name: fact, value }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two facts of an examination may be equal, and their order never changes
          <div key={index}>
            <dt>
              <bdi>{clamp(fact, 120)}</bdi>
            </dt>
            <dd>
              <bdi>{clamp(value, 400)}</bdi>
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

interface ShortProps {
  readonly name: string;
  readonly level: Level;
  readonly text: string;
}

/** The view of a section without facts, which has nothing to unfold. */
function Short({ name, level, text }: ShortProps) {
  return (
    <section className="card examined-short" aria-label={name}>
      <h3>{name}</h3>
      <span className="soft small">{text}</span>
      <LevelBadge level={level} />
    </section>
  );
}

function LevelBadge({ level }: { readonly level: Level }) {
  const words = useWords();
  return <span className={`badge ${BADGES[level]}`}>{words[`level ${level}`]}</span>;
}

const CHECK_WORDS: Readonly<Record<string, keyof Strings>> = {
  program: 'check program',
  settings: 'check settings',
  database: 'check database',
  schema: 'check schema',
  secret: 'check secret',
  nodes: 'nodes',
  leases: 'leases',
  clocks: 'check clocks',
  networks: 'networks',
  accounts: 'check accounts',
  alerts: 'alerts',
  webhooks: 'webhooks',
  disk: 'check disk',
  publicUrl: 'check publicUrl',
  certificates: 'check certificates',
};

/** The title of a check. If this page does not know the check, it shows the title that the gateway gives. */
function checkText(words: Strings, check: string, title: string): string {
  const word = CHECK_WORDS[check];
  return word === undefined ? title : words[word];
}
