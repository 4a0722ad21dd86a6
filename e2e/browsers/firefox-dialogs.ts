import type { Marionette } from './marionette.ts';

/** What becomes of a dialog that asks where to save: a folder, where the proposed name is kept, or its end. */
export type DialogAnswer = { readonly folder: string } | 'cancel';

/**
 * Puts a file dialog into Firefox that a test answers: without a window nobody else could. It begins with cancelling.
 */
export async function replaceFileDialog(marionette: Marionette): Promise<void> {
  await runPrivileged(
    marionette,
    `const { FileUtils } = ChromeUtils.importESModule('resource://gre/modules/FileUtils.sys.mjs');
    window.testDialogs = { answer: 'cancel', count: 0 };
    const state = window.testDialogs;
    class Picker {
      QueryInterface = ChromeUtils.generateQI(['nsIFilePicker']);
      defaultString = '';
      defaultExtension = '';
      displayDirectory = null;
      filterIndex = 0;
      init() {}
      appendFilter() {}
      appendFilters() {}
      appendRawFilter() {}
      get file() {
        const file = new FileUtils.File(state.answer.folder);
        file.append(this.defaultString);
        return file;
      }
      open(callback) {
        state.count += 1;
        const result = state.answer === 'cancel' ? Ci.nsIFilePicker.returnCancel : Ci.nsIFilePicker.returnOK;
        Services.tm.dispatchToMainThread(() => callback.done ? callback.done(result) : callback(result));
      }
    }
    Components.manager.QueryInterface(Ci.nsIComponentRegistrar).registerFactory(
      Services.uuid.generateUUID(), '', '@mozilla.org/filepicker;1',
      { QueryInterface: ChromeUtils.generateQI(['nsIFactory']), createInstance: (iid) => new Picker().QueryInterface(iid) },
    );`,
    [],
  );
}

export async function answerFileDialogs(marionette: Marionette, answer: DialogAnswer): Promise<void> {
  await runPrivileged(marionette, 'window.testDialogs.answer = arguments[0]', [answer]);
}

/** How many dialogs there were so far. */
export function countFileDialogs(marionette: Marionette): Promise<number> {
  return runPrivileged<number>(marionette, 'return window.testDialogs.count', []);
}

/** Chooses "Save link as" in the context menu that is open. */
export async function chooseSaveLink(marionette: Marionette): Promise<void> {
  await runPrivileged(
    marionette,
    `const menu = document.getElementById('contentAreaContextMenu');
    return new Promise((resolve, reject) => {
      const giveUpMs = Date.now() + 10_000;
      const look = () => {
        if (window.gContextMenu?.onLink) {
          window.gContextMenu.saveLink();
          menu.hidePopup();
          resolve();
        } else if (Date.now() > giveUpMs) reject(new Error('no context menu of a link opened'));
        else setTimeout(look, 50);
      };
      look();
    });`,
    [],
  );
}

/** Chooses the entry of an add-on with this title from the open context menu. */
export async function chooseMenuEntry(marionette: Marionette, title: string): Promise<void> {
  await runPrivileged(
    marionette,
    `const menu = document.getElementById('contentAreaContextMenu');
    return new Promise((resolve, reject) => {
      const giveUpMs = Date.now() + 10_000;
      const look = () => {
        const entry = [...menu.querySelectorAll('menuitem')].find((item) => item.label === arguments[0]);
        if (entry && menu.state === 'open') {
          entry.doCommand();
          menu.hidePopup();
          resolve();
        } else if (Date.now() > giveUpMs) {
          const labels = [...menu.querySelectorAll('menuitem')].map((item) => item.label).join();
          reject(new Error('the context menu has no such entry: ' + labels));
        } else setTimeout(look, 50);
      };
      look();
    });`,
    [title],
  );
}

/** Runs a script with the browser's own rights. */
export async function runPrivileged<T>(
  marionette: Marionette,
  script: string,
  args: readonly unknown[],
): Promise<T> {
  await marionette.send('Marionette:SetContext', { value: 'chrome' });
  try {
    return await marionette.ask<T>('WebDriver:ExecuteScript', { script, args });
  } finally {
    await marionette.send('Marionette:SetContext', { value: 'content' });
  }
}
