import { askForPlan, link, page } from './page-state.ts';

/** The field for the link. Without JavaScript the same form leads straight to the download. */
export function LinkForm() {
  const asking = page.value.kind === 'asking';
  return (
    <form
      class="link-form"
      action="get"
      method="get"
      onSubmit={(event) => {
        event.preventDefault();
        void askForPlan();
      }}
    >
      <label for="url">Link of the download</label>
      <div class="link-row">
        <input
          id="url"
          name="url"
          type="text"
          inputMode="url"
          autocomplete="off"
          spellcheck={false}
          required
          placeholder="https://origin.example/file.iso"
          value={link.value}
          onInput={(event) => {
            link.value = event.currentTarget.value;
          }}
        />
        <button disabled={asking}>{asking ? 'Planning …' : 'Make it fast'}</button>
      </div>
    </form>
  );
}
