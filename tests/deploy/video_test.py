#!/usr/bin/python3
"""`troupe eval --video`: the files that it makes, and what it refuses: video_test.py BUILD_DIR."""
import json
import os
import pathlib
import struct
import tempfile
import unittest
import unittest.mock

import deployment

ROOT = pathlib.Path(__file__).resolve().parents[2]


def pictures_of(gif):
    """The size of a GIF and the number of its pictures, by its blocks."""
    data = gif.read_bytes()
    assert data[:6] == b"GIF89a" and data[-1:] == b";", data[:6]
    width, height, flags = struct.unpack_from("<HHB", data, 6)
    at = 13 + (3 << (flags & 7) + 1 if flags & 0x80 else 0)
    count = 0
    while data[at] != 0x3B:
        if data[at] == 0x2C:
            count += 1
            at += 10 + (3 << (data[at + 9] & 7) + 1 if data[at + 9] & 0x80 else 0) + 1
        else:
            at += 2
        while data[at]:
            at += data[at] + 1
        at += 1
    return (width, height), count


class Videos(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.holder.cleanup)
        cls.folder = pathlib.Path(cls.holder.name)
        cls.poles = cls.train("--env", "CartPole-v1", "-n", 64, "rollout.n_steps=64")

    @classmethod
    def train(cls, *arguments):
        """The folder of a run that has learned next to nothing."""
        result = deployment.run(deployment.troupe(), "train", "--json", "--metrics-port", 0, "policy.hidden=[8]",
                                "evaluation.final_episodes=1", "evaluation.every_steps=0", *arguments, cwd=cls.folder)
        assert result.returncode == 0, result.stdout
        return json.loads(result.stdout.splitlines()[-1])["run_directory"]

    def eval(self, *arguments, **options):
        return deployment.run(deployment.troupe(), "eval", *arguments, "--episodes", 4, cwd=self.folder, **options)

    def refused(self, *arguments, says, **options):
        result = self.eval(*arguments, **options)
        self.assertEqual(result.returncode, 2, result.stdout)
        self.assertIn(says, result.stdout)
        self.assertNotIn(" +/- ", result.stdout)  # before the evaluation
        self.assertEqual([name for name in os.listdir(self.folder) if ".part" in name], [])

    def test_a_gif_shows_the_first_episode_and_the_result_stays_the_same(self):
        without = self.eval(self.poles)
        result = self.eval(self.poles, "--video", "pole.gif")
        self.assertEqual(result.returncode, 0, result.stdout)
        told, video = result.stdout.splitlines()[-2:]
        self.assertEqual(told, without.stdout.splitlines()[-1])
        size, count = pictures_of(self.folder / "pole.gif")
        self.assertEqual(size, (600, 400))
        # CartPole's return is the number of its steps, and the first picture is that of the reset.
        self.assertRegex(video, rf"^pole.gif: 1 episode of return {count - 1}(\.0*)?, {count} pictures, \d+\.\d s$")

    def test_several_episodes_and_json(self):
        result = self.eval(self.poles, "--video", "poles.gif", "--video-episodes", 3, "--json")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertNotIn("poles.gif:", result.stdout)
        line = next(line for line in result.stdout.splitlines() if line.startswith("{"))
        self.assertEqual(json.loads(line)["eval_episodes"], 4)
        self.assertGreater(pictures_of(self.folder / "poles.gif")[1], 3 * 9)

    def test_two_tasks_have_an_episode_each(self):
        run = self.train("-n", 64, "rollout.n_steps=64", 'env.tasks=[{"id":"CartPole-v1","target":475},{"id":"Acrobot-v1","floor":-500,"target":-100}]',
                         "env.max_episode_steps=20")
        result = self.eval(run, "--video", "tasks.gif")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("tasks.gif: 2 episodes of mean return", result.stdout)

    def test_an_mp4_where_ffmpeg_is(self):
        deployment.require(self, "ffmpeg", "ffmpeg")
        result = self.eval(self.poles, "--video", "pole.mp4")
        self.assertEqual(result.returncode, 0, result.stdout)
        seen = deployment.run("ffprobe", "-v", "error", "-count_frames", "-of", "csv=p=0", "-show_entries",
                              "stream=width,height,r_frame_rate,nb_read_frames", self.folder / "pole.mp4").stdout
        self.assertRegex(seen, r"^600,400,50/1,\d+$")
        self.assertIn(f", {seen.strip().split(',')[-1]} pictures", result.stdout)

    def test_lunar_lander_and_connect_four(self):
        for name, size in (("LunarLander-v3", (600, 400)), ("ConnectFour-v0", None)):
            run = self.train("--env", name, "-n", 64, "rollout.n_steps=64")
            result = self.eval(run, "--video", f"{name}.gif")
            self.assertEqual(result.returncode, 0, result.stdout)
            got, count = pictures_of(self.folder / f"{name}.gif")
            self.assertEqual(got, size or got)
            self.assertGreater(count, 3)

    def test_an_environment_in_python_with_its_last_picture(self):
        worlds = {**os.environ, "PYTHONPATH": str(ROOT / "tests/actors/python/worlds")}
        with unittest.mock.patch.dict(os.environ, worlds):
            run = self.train("--env", "good:Pictured", "-n", 64, "rollout.n_steps=64", "env.python=/usr/bin/python3")
        result = self.eval(run, "--video", "pictured.gif", "--video-episodes", 2, env=worlds)
        self.assertEqual(result.returncode, 0, result.stdout)
        # Each episode has the picture of its reset and one after each of its 5 steps.
        self.assertEqual(pictures_of(self.folder / "pictured.gif"), ((48, 32), 12))
        self.assertIn("12 pictures, 1.2 s", result.stdout)

    def test_door_key_of_minigrid(self):
        made = deployment.run(ROOT / "tests/actors/worlds/gymnasium_venv.py", deployment.build_folder())
        if made.returncode != 0:
            self.skipTest(made.stdout.splitlines()[-1])
        python = f"env.python={made.stdout.split()[-1]}"
        run = self.train("--env", "gymnasium:MiniGrid-DoorKey-5x5-v0", "-n", 64, "rollout.n_steps=64", python,
                         "env.wrappers=[minigrid.wrappers.FlatObsWrapper]", "env.max_episode_steps=20")
        result = self.eval(run, "--video", "door.gif")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertEqual(pictures_of(self.folder / "door.gif"), ((160, 160), 21))

    def test_what_is_wrong_is_told_before_the_evaluation(self):
        self.refused(self.poles, "--video", "pole.avi",
                     says="video: expected a file that ends in .gif or .mp4, got pole.avi")
        self.refused(self.poles, "--video", "nowhere/pole.gif", says="nowhere/pole.gif")
        self.refused(self.poles, "--video-episodes", 2, says="--video")
        self.refused(self.poles, "--video", "pole.mp4", env={**os.environ, "PATH": "/nowhere"},
                     says="expected the program ffmpeg on the PATH")


if __name__ == "__main__":
    deployment.main()
