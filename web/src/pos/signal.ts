/** Sound and vibration for a paid payment. Browsers allow both only after the page was touched. */
export const paidSignal = createSignal();

const NOTES = [
  { hertz: 880, atS: 0, lengthS: 0.12 },
  { hertz: 1318.5, atS: 0.13, lengthS: 0.28 },
];
const VOLUME = 0.25;

function createSignal() {
  let context: AudioContext | undefined;
  return {
    /** Prepares the sound. It is called when a button is pressed, because browsers allow sound only then. */
    prepare(): void {
      try {
        context ??= new AudioContext();
        void context.resume();
      } catch {
        // Without sound, the page still shows the payment.
      }
    },
    play(): void {
      if (context === undefined) return;
      navigator.vibrate?.([120, 60, 200]);
      for (const { hertz, atS, lengthS } of NOTES) {
        const tone = context.createOscillator();
        const volume = context.createGain();
        const from = context.currentTime + atS;
        tone.frequency.value = hertz;
        volume.gain.setValueAtTime(VOLUME, from);
        volume.gain.exponentialRampToValueAtTime(0.001, from + lengthS);
        tone.connect(volume).connect(context.destination);
        tone.start(from);
        tone.stop(from + lengthS);
      }
    },
  };
}
