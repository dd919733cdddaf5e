import { CloudGlyph, SearchGlyph } from '../../shared/glyphs.tsx';
import { type Flow, isRare } from '../flow-state.ts';
import type { MessagePage, PaymentPage } from '../page-state.ts';
import type { Actions, PhonePanel, RareSteps } from './actions.ts';
import { Choosing } from './choosing.tsx';
import { Confirming } from './confirming.tsx';
import { Ending, LateNotice } from './endings.tsx';
import { Footer, SandboxBar } from './frame.tsx';
import { LiveRegion } from './live-region.tsx';
import { Moment } from './moment.tsx';
import { ConnectionBar } from './notice.tsx';
import { Ready } from './ready.tsx';
import { Asking, Connecting, Loading, Preparing, Waiting } from './steps.tsx';
import { Summary } from './summary.tsx';
import { useWords, WordsContext } from './words.ts';

export interface PaymentProps {
  readonly page: PaymentPage;
  readonly flow: Flow;
  readonly nowMs: number;
  readonly secondsToReturn: number | null;
  readonly phone: PhonePanel;
  /** The views of rare steps. Null until they are loaded. */
  readonly rareSteps: RareSteps | null;
  /** The text copied in the last two seconds. */
  readonly copied: string | null;
  readonly actions: Actions;
}

/** The whole page, rendered from its state by the server, by the browser and for pictures. */
export function App(props: PaymentProps | { readonly page: MessagePage }) {
  const { page } = props;
  return (
    <WordsContext value={page}>
      {'flow' in props ? <Payment {...props} /> : <Message kind={props.page.kind} />}
    </WordsContext>
  );
}

function Payment(props: PaymentProps) {
  const { page, flow, nowMs } = props;
  return (
    <div className="page">
      <header className="bars">
        {page.sandbox !== null && <SandboxBar />}
        <ConnectionBar connection={flow.connection} />
      </header>
      <main className="sheet">
        <Summary page={page} flow={flow} nowMs={nowMs} />
        <section className="panel" aria-labelledby="step-title">
          {flow.step.at !== 'ended' && <LateNotice flow={flow} />}
          {/* A new step is animated. The first one is not. */}
          <div className={flow.step.at === 'ready' ? 'step' : 'step step-moves'} key={flow.step.at}>
            <StepView {...props} />
          </div>
        </section>
      </main>
      <Footer />
      <LiveRegion {...props} />
    </div>
  );
}

function StepView(props: PaymentProps) {
  const { flow, actions, rareSteps } = props;
  const { step } = flow;
  if (isRare(step))
    return rareSteps === null ? <Waiting actions={actions} /> : <rareSteps.RareStep {...props} step={step} />;
  switch (step.at) {
    case 'ready':
      return <Ready {...props} />;
    case 'connecting':
      return <Connecting {...props} step={step} />;
    case 'loading':
      return <Loading flow={flow} step={step} actions={actions} />;
    case 'choosing':
      return <Choosing flow={flow} step={step} actions={actions} />;
    case 'preparing':
      return <Preparing flow={flow} step={step} actions={actions} />;
    case 'asking':
      return <Asking flow={flow} step={step} actions={actions} />;
    case 'confirming':
      return <Confirming {...props} step={step} />;
    case 'ended':
      return <Ending {...props} />;
  }
}

function Message({ kind }: { readonly kind: 'not_found' | 'unavailable' }) {
  const { strings } = useWords();
  const isMissing = kind === 'not_found';
  return (
    <div className="page">
      <main className="sheet sheet-single">
        <section className="panel" aria-labelledby="step-title">
          <Moment
            isWholePage
            tone={isMissing ? 'calm' : 'busy'}
            mark={isMissing ? <SearchGlyph /> : <CloudGlyph />}
            title={isMissing ? strings.notFoundTitle : strings.unavailableTitle}
            text={isMissing ? strings.notFoundText : strings.unavailableText}
          />
        </section>
      </main>
      <Footer />
    </div>
  );
}
