import { useQuery } from '@tanstack/react-query';
import { Link, type LinkProps } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { numberFormat } from '../../shared/money.ts';
import { fill } from '../../shared/text.ts';
import type { PaymentStatistics, Volume } from '../api-types.ts';
import { dayAt, FIRST_PERIOD, lastDays, successRate, todayAndLastWeek, volumeIn } from '../days.ts';
import { formatMajor } from '../major-amount.ts';
import { attentionQuery, statisticsQuery, useMay } from '../queries.ts';
import type { Strings } from '../strings/en.ts';
import { BarChart, Shares } from '../ui/charts.tsx';
import { Notice, PageHead, useTitle } from '../ui/parts.tsx';
import { problemText } from '../ui/problem-text.ts';
import { usePageState, useTimes, useWords } from '../words.ts';

const PERIODS = [FIRST_PERIOD, 90] as const;

/** The numbers of today and of the last weeks, and everything that needs a person's action. */
export function HomePage() {
  const words = useWords();
  const [days, setDays] = useState<(typeof PERIODS)[number]>(FIRST_PERIOD);
  useTitle(words.home);
  const { nowMs } = usePageState();
  // The present day by the gateway's clock: first from the document, then from each answer.
  const [today, setToday] = useState(() => dayAt(nowMs));
  const from = lastDays(days, today)[0];
  const { data, error } = useQuery(statisticsQuery(from));
  const until = data?.until;
  useEffect(() => {
    if (until !== undefined) setToday(until);
  }, [until]);
  return (
    <>
      <PageHead title={words.home}>
        <fieldset className="segments">
          <legend className="unseen">{words.period}</legend>
          {PERIODS.map((period) => (
            <label key={period}>
              <input type="radio" name="period" checked={period === days} onChange={() => setDays(period)} />
              <span>{fill(words.days, { count: String(period) })}</span>
            </label>
          ))}
        </fieldset>
      </PageHead>
      {error !== null && <Notice kind="bad">{problemText(words, error)}</Notice>}
      {data === undefined && error === null && <p className="empty">{words.loading}</p>}
      {data !== undefined && <Overview statistics={data} days={days} />}
    </>
  );
}

function Overview({ statistics, days }: { readonly statistics: PaymentStatistics; readonly days: number }) {
  const words = useWords();
  const style = usePageState();
  const { locale } = style;
  const numbers = numberFormat(locale, {});
  const percent = numberFormat(locale, { style: 'percent', maximumFractionDigits: 1 });
  const { today, lastWeek } = todayAndLastWeek(statistics);
  const { volume } = statistics;
  const [chosen, setChosen] = useState<string>();
  const main = volume.find(({ currency }) => currency === chosen) ?? mainVolume(statistics);
  const money = (days: readonly Volume[]) => (main === undefined ? '—' : formatMajor(volumeIn(days, main), style));
  const rate = successRate(statistics);
  const { medianSeconds, p90Seconds } = statistics.timeToPay;
  const compared = (value: string) => fill(words.lastWeek, { value });
  return (
    <>
      <div className="tiles">
        <Tile
          name={`${words.volume} · ${words.today}`}
          value={money(today.volume)}
          note={compared(money(lastWeek.volume))}
        />
        <Tile
          name={`${words.paidPayments} · ${words.today}`}
          value={numbers.format(today.succeeded)}
          note={compared(numbers.format(lastWeek.succeeded))}
        />
        <Tile
          name={words.successRate}
          value={rate === undefined ? '—' : percent.format(rate)}
          note={fill(words.days, { count: String(days) })}
        />
        <Tile
          name={words.timeToPay}
          value={medianSeconds === null ? '—' : durationText(medianSeconds, locale)}
          note={p90Seconds === null ? '' : fill(words.ninety, { time: durationText(p90Seconds, locale) })}
        />
      </div>
      <div className="home-cards">
        <div>
          <section className="card" aria-labelledby="volume">
            <div className="section-head">
              <h2 id="volume">{words.volume}</h2>
              {volume.length > 1 && (
                <fieldset className="segments">
                  <legend className="unseen">{words.currency}</legend>
                  {volume.map(({ currency: each }) => (
                    <label key={each}>
                      <input
                        type="radio"
                        name="currency"
                        checked={each === main?.currency}
                        onChange={() => setChosen(each)}
                      />
                      <span>{each}</span>
                    </label>
                  ))}
                </fieldset>
              )}
            </div>
            {main === undefined ? (
              <p className="soft">{words.noVolume}</p>
            ) : (
              <>
                <p className="figure">{money(volume)}</p>
                <VolumeChart statistics={statistics} days={days} main={main} />
              </>
            )}
          </section>
          <section className="card" aria-labelledby="funnel">
            <h2 id="funnel">{words.funnel}</h2>
            <Shares shares={stepShares(words, statistics)} />
          </section>
        </div>
        <div>
          <NeedsYou />
          <section className="card" aria-labelledby="assets">
            <h2 id="assets">{words.tokensAndNetworks}</h2>
            {statistics.assets.length === 0 && <p className="soft">{words.noVolume}</p>}
            <Shares shares={assetShares(statistics)} />
          </section>
        </div>
      </div>
    </>
  );
}

interface TileProps {
  readonly name: ReactNode;
  readonly value: string;
  readonly note: string;
}

function Tile({ name, value, note }: TileProps) {
  return (
    <div className="card tile">
      <span className="soft small">{name}</span>
      <span className="figure">{value}</span>
      <span className="soft small">{note}</span>
    </div>
  );
}

interface VolumeProps {
  readonly statistics: PaymentStatistics;
  readonly days: number;
  readonly main: Volume;
}

function VolumeChart({ statistics, days, main }: VolumeProps) {
  const words = useWords();
  const style = usePageState();
  const { day: dayText } = useTimes();
  const byDay = new Map(statistics.days.map((each) => [each.day, each]));
  const bars = lastDays(days, statistics.until).map((day) => {
    const volume = volumeIn(byDay.get(day)?.volume ?? [], main);
    return {
      key: day,
      label: dayText(`${day}T00:00:00Z`),
      size: Math.max(Number(volume.amount), 0),
      text: formatMajor(volume, style),
    };
  });
  return <BarChart title={`${words.volume}, ${main.currency}`} bars={bars} columns={[words.day, words.volume]} />;
}

/** The currency that has volume on the most days. */
function mainVolume({ volume, days }: PaymentStatistics): Volume | undefined {
  const daysOf = (each: Volume) => days.filter((day) => Number(volumeIn(day.volume, each).amount) > 0).length;
  return volume.toSorted((a, b) => daysOf(b) - daysOf(a))[0];
}

const STEP_WORDS = {
  created: 'stepCreated',
  opened: 'stepOpened',
  options: 'stepOptions',
  signed: 'stepSigned',
  paid: 'stepPaid',
} as const satisfies Record<keyof PaymentStatistics['steps'], keyof Strings>;

function stepShares(words: Strings, { steps }: PaymentStatistics) {
  return (Object.keys(STEP_WORDS) as (keyof typeof STEP_WORDS)[]).map((step) => ({
    key: step,
    name: words[STEP_WORDS[step]],
    count: steps[step],
    share: steps.created === 0 ? 0 : steps[step] / steps.created,
  }));
}

const MOST_ASSETS = 6;

function assetShares({ assets }: PaymentStatistics) {
  const total = assets.reduce((sum, { payments }) => sum + payments, 0);
  return assets.slice(0, MOST_ASSETS).map(({ asset, symbol, networkName, payments }) => ({
    key: asset,
    name: symbol,
    note: networkName,
    count: payments,
    share: payments / total,
  }));
}

function NeedsYou() {
  const words = useWords();
  const mayWebhooks = useMay('webhooks');
  const { data } = useQuery(attentionQuery);
  return (
    <section className="card" aria-labelledby="needs">
      <h2 id="needs">{words.needsYou}</h2>
      {data !== undefined && Object.values(data).every((count) => count === 0) && (
        <p className="soft">{words.nothingNeeded}</p>
      )}
      {data !== undefined && (
        <ul className="needs">
          <Need
            count={data.slowPayments}
            word="slowPayments"
            to="/payments"
            search={{ status: 'processing', sort: 'oldest' }}
          />
          <Need count={data.failedRefunds} word="failedRefunds" to="/refunds" search={{ status: 'failed' }} />
          <Need count={data.waitingRefunds} word="waitingRefunds" to="/refunds" search={{ status: 'awaiting_funds' }} />
          <Need count={data.lateMoney} word="lateWaiting" to="/late-money" search={{ status: 'unclaimed' }} />
          <Need count={data.heldPayments} word="heldPayments" to="/payouts" search={{ status: 'held' }} />
          <Need count={mayWebhooks ? data.failingEndpoints : 0} word="failingEndpoints" to="/webhooks" />
        </ul>
      )}
    </section>
  );
}

type NeedProps = LinkProps & { readonly count: number; readonly word: keyof Strings };

/** The number of things of one kind that need a person's action, with a link to them. Renders nothing for zero. */
function Need({ count, word, ...link }: NeedProps) {
  const words = useWords();
  if (count === 0) return null;
  return (
    <li>
      <Link {...link}>{fill(words[word], { count: String(count) })}</Link>
    </li>
  );
}

/** Seconds as `45 s`, `3 min` or `2 h`, in the language of the person. */
function durationText(seconds: number, locale: string): string {
  const [value, unit] =
    seconds < 100 ? [seconds, 'second'] : seconds < 6_000 ? [seconds / 60, 'minute'] : [seconds / 3_600, 'hour'];
  const style = { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 1 } as const;
  return numberFormat(locale, style).format(value as number);
}
