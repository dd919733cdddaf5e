import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ChangeEvent, useState } from 'react';
import { accentProblem, parseColour } from '../../../../src/domain/accent.ts';
import { MAX_LOGO_BYTES } from '../../../../src/domain/picture.ts';
import { fill } from '../../shared/text.ts';
import { call } from '../api.ts';
import type { Branding, ListedMerchant } from '../api-types.ts';
import { useMay } from '../queries.ts';
import { useWords } from '../words.ts';
import { BrandPreviews } from './brand-preview.tsx';
import { currentIn, Difference } from './difference.tsx';
import { Form } from './form.tsx';
import { Field, Notice } from './parts.tsx';
import { base64In, dataUrlOf, isPicture, PICTURE_TYPES } from './picture.ts';
import { problemText } from './problem-text.ts';
import { useChange } from './use-change.ts';

interface SectionProps {
  readonly merchant: ListedMerchant;
}

export function BrandingSection({ merchant }: SectionProps) {
  const words = useWords();
  const mayEdit = useMay('merchants:write');
  const { data, error } = useQuery({
    queryKey: ['merchants', 'branding', merchant.id],
    queryFn: ({ signal }) => call<{ branding: Branding }>('GET', `/v1/merchants/${merchant.id}/branding`, { signal }),
  });
  const branding = data?.branding;
  return (
    <section aria-labelledby="branding" className="card">
      <div className="section-head">
        <h2 id="branding">{words.branding}</h2>
      </div>
      <p className="soft">{words.brandingText}</p>
      {error !== null && <Notice kind="bad">{problemText(words, error)}</Notice>}
      {branding !== undefined &&
        (mayEdit ? (
          <BrandingForm merchant={merchant} initial={branding} />
        ) : (
          <BrandPreviews
            name={merchant.name}
            logoUrl={branding.logoUrl}
            accent={branding.accentColor}
            poweredBy={branding.poweredBy}
          />
        ))}
    </section>
  );
}

interface Draft {
  /** The picture as a `data:` URL. Null removes the uploaded logo, undefined keeps it. */
  readonly logo: string | null | undefined;
  /** The typed accent colour. Empty for the gateway's colour. */
  readonly accent: string;
  readonly poweredBy: boolean;
}

const draftOf = ({ accentColor, poweredBy }: Branding): Draft => ({
  logo: undefined,
  accent: accentColor ?? '',
  poweredBy,
});

function BrandingForm({ merchant, initial }: SectionProps & { readonly initial: Branding }) {
  const words = useWords();
  const client = useQueryClient();
  const { isRunning, problem, run } = useChange();
  const [before, setBefore] = useState(initial);
  const [seen, setSeen] = useState(initial);
  const [draft, setDraft] = useState(() => draftOf(initial));
  const [isSaved, setSaved] = useState(false);
  const isConflict = seen !== before;
  const edit = (change: Partial<Draft>) => {
    setDraft((now) => ({ ...now, ...change }));
    setSaved(false);
  };
  const accent = draft.accent === '' ? null : parseColour(draft.accent);
  const isRefused = draft.accent !== '' && (accent === null || accentProblem(accent) !== undefined);
  const save = () =>
    run(async () => {
      if (isRefused) return;
      setSaved(false);
      const { uploadedLogoUrl, accentColor, poweredBy } = seen;
      const body = {
        ...(draft.logo !== undefined && { logo: draft.logo === null ? null : base64In(draft.logo) }),
        accentColor: accent,
        poweredBy: draft.poweredBy,
        ifUnchanged: { uploadedLogoUrl, accentColor, poweredBy },
      };
      try {
        const path = `/v1/merchants/${merchant.id}/branding`;
        const { branding } = await call<{ branding: Branding }>('PATCH', path, { body });
        setBefore(branding);
        setSeen(branding);
        setDraft(draftOf(branding));
        setSaved(true);
      } catch (error) {
        // The person has now seen the present values, so the next attempt to save may overwrite them.
        setSeen(currentIn<Branding>(error));
      } finally {
        await client.invalidateQueries({ queryKey: ['merchants'] });
      }
    });
  return (
    <div className="brand-columns">
      <Form onSend={save}>
        {isConflict && <BrandDifference before={before} now={seen} />}
        <LogoField logo={draft.logo} uploaded={seen.uploadedLogoUrl} onChange={(logo) => edit({ logo })} />
        <AccentField text={draft.accent} onChange={(text) => edit({ accent: text })} />
        <label className="check">
          <input
            type="checkbox"
            checked={draft.poweredBy}
            onChange={(event) => edit({ poweredBy: event.target.checked })}
          />
          <span>{words.showPoweredBy}</span>
        </label>
        {problem !== undefined && <Notice kind="bad">{problem}</Notice>}
        {isSaved && <Notice kind="good">{words.saved}</Notice>}
        <button type="submit" className="main" disabled={isRunning}>
          {isConflict ? words.overwrite : words.save}
        </button>
      </Form>
      <BrandPreviews
        name={merchant.name}
        logoUrl={draft.logo === undefined ? seen.logoUrl : (draft.logo ?? seen.copiedLogoUrl)}
        accent={accent}
        poweredBy={draft.poweredBy}
      />
    </div>
  );
}

/** A short name of a logo. Its URL ends with a hash, whose last characters are enough to distinguish logos. */
const nameOf = (url: string | null) => (url === null ? '–' : `…${url.slice(-6)}`);

function BrandDifference({ before, now }: { readonly before: Branding; readonly now: Branding }) {
  const words = useWords();
  const shown = (isShown: boolean) => (isShown ? '✓' : '–');
  return (
    <Difference
      rows={[
        { label: words.logo, from: nameOf(before.uploadedLogoUrl), to: nameOf(now.uploadedLogoUrl) },
        { label: words.accentColour, from: before.accentColor ?? '–', to: now.accentColor ?? '–' },
        { label: words.showPoweredBy, from: shown(before.poweredBy), to: shown(now.poweredBy) },
      ]}
    />
  );
}

interface LogoProps {
  readonly logo: Draft['logo'];
  readonly uploaded: string | null;
  readonly onChange: (logo: Draft['logo']) => void;
}

function LogoField({ logo, uploaded, onChange }: LogoProps) {
  const words = useWords();
  const [isRefused, setRefused] = useState(false);
  // The React key of the file field. A new key empties the field.
  const [round, setRound] = useState(0);
  const choose = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const file = target.files?.[0];
    const isGood = file !== undefined && isPicture(file, MAX_LOGO_BYTES);
    setRefused(file !== undefined && !isGood);
    const logo = isGood ? await dataUrlOf(file) : undefined;
    // The person may have chosen another file while this one was read.
    if (target.files?.[0] === file) onChange(logo);
  };
  const remove = () => {
    setRefused(false);
    setRound(round + 1);
    onChange(uploaded === null ? undefined : null);
  };
  const hasLogo = typeof logo === 'string' || (logo === undefined && uploaded !== null);
  return (
    <>
      <Field label={words.logo}>
        {(id) => (
          <input
            key={round}
            id={id}
            type="file"
            accept={PICTURE_TYPES}
            aria-invalid={isRefused}
            onChange={(event) => void choose(event)}
          />
        )}
      </Field>
      {isRefused && <Notice kind="bad">{words.badLogo}</Notice>}
      {hasLogo && (
        <button type="button" className="quiet small" onClick={remove}>
          {words.removeLogo}
        </button>
      )}
    </>
  );
}

/** The browser's colour picker needs an initial colour. */
const FIRST_COLOUR = '#635bff';

function AccentField({ text, onChange }: { readonly text: string; readonly onChange: (text: string) => void }) {
  const words = useWords();
  const colour = parseColour(text);
  return (
    <>
      <Field label={words.accentColour}>
        {(id) => (
          <span className="brand-colour">
            <input
              id={id}
              dir="ltr"
              maxLength={7}
              autoComplete="off"
              spellCheck={false}
              placeholder={FIRST_COLOUR}
              value={text}
              aria-invalid={text !== '' && (colour === null || accentProblem(colour) !== undefined)}
              onChange={(event) => onChange(event.target.value.trim())}
            />
            <input
              type="color"
              aria-label={words.pickColour}
              value={colour ?? FIRST_COLOUR}
              onChange={(event) => onChange(event.target.value)}
            />
          </span>
        )}
      </Field>
      <ColourProblem text={text} onUse={onChange} />
    </>
  );
}

function ColourProblem({ text, onUse }: { readonly text: string; readonly onUse: (colour: string) => void }) {
  const words = useWords();
  const colour = parseColour(text);
  if (text === '') return null;
  if (colour === null) return <Notice kind="warm">{words.badColour}</Notice>;
  const problem = accentProblem(colour);
  if (problem === undefined) return null;
  const { theme, ratio, needed, nearest } = problem;
  const sentence = theme === 'light' ? words.badContrastLight : words.badContrastDark;
  return (
    <>
      <Notice kind="bad">{fill(sentence, { ratio: `${ratio}:1`, needed: `${needed}:1` })}</Notice>
      <button type="button" className="quiet small" onClick={() => onUse(nearest)}>
        {fill(words.useColour, { colour: nearest })}
      </button>
    </>
  );
}
